"""Tests of what becomes of state in another plan."""
