"""Spark itself: its `session` and settings, its Java process, its types, its failures, what its releases lack."""
