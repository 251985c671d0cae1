"""Spark itself: its `session` and settings, its Java process, its types, what its releases lack."""
