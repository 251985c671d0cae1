"""Spark itself: its `session` and settings, its process in `java`, its `types`, what its `releases` lack.

`worker_python` is the Python that its workers run.
"""
