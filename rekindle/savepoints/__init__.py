"""Savepoints: a job's state, positions and plan as a folder that can be moved, read by anyone, and started from."""
