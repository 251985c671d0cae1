"""Restore programs, by what keeps the state."""
