"""Tests of programs: folders for `rekindle test`, and restore tests as data for pytest (docs/testing.md)."""

from rekindle.testing.restore_program import Files, RestoreProgram, changes, lines

__all__ = ["Files", "RestoreProgram", "changes", "lines"]
