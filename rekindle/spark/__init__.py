"""Spark itself: its `session` and settings, its process in `java`, the `class_archive` it starts from, its `types`,
what its `releases` lack, when it uses `generated_code`, which of its failures are `passing`, which `executors` it has.

`worker_python` is the Python that its workers run, `workers` what they load, and what they do about garbage.
"""
