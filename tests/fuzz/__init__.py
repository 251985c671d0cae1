"""Hostile input, made at random: every module here with a `FUZZER` attacks one door of Rekindle.

`make fuzz` hunts for two minutes a fuzzer, the fast suite for a moment. What was found is kept in `findings/`.
"""
