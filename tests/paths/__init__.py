"""Paths with names that engines read something into."""
