"""Differences of plans, and how verdicts are shown."""
