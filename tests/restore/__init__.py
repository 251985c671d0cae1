"""Restore tests: every node version goes on from a savepoint of the release that had it first."""
