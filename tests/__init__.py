"""Tests of Rekindle."""
