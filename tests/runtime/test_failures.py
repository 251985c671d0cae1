"""Failures of Spark are told in the words of whoever raised them."""

from __future__ import annotations

import pytest

from rekindle.runtime.failures import is_transient, job_error


def test_a_slow_start_is_no_failure_of_the_job() -> None:
    assert is_transient("[STREAM_FAILED] … Python worker failed to connect back. SQLSTATE: XXKST")
    assert not is_transient(RAISED)


RAISED = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted due to stage failure.
Caused by: org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] / by zero SQLSTATE: P0001
\tat org.apache.spark.Foo
=== Streaming Query ===
Identifier: x"""
PYTHON = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: An exception was thrown:
Traceback (most recent call last):
  File "kernel.py", line 3, in process
    raise JobError("column ts is NULL")
execnodes.core.errors.JobError: column 'ts' is NULL
  Filter such rows out.
 SQLSTATE: 39000
=== Streaming Query ==="""
OTHER = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Python worker exited SQLSTATE: XXKST
=== Streaming Query ===
Logical Plan: …"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RAISED, "/ by zero"),
        (PYTHON, "column 'ts' is NULL\n  Filter such rows out."),
        (OTHER, "Python worker exited"),
        (
            PYTHON.replace("execnodes.core.errors.JobError: column 'ts'", "ValueError: column 'ts'"),
            "ValueError: column 'ts' is NULL\n  Filter such rows out.",
        ),
    ],
)
def test_the_cause_is_what_is_said(text: str, said: str) -> None:
    assert job_error(text).message == said
