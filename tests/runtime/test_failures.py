"""Failures of Spark are told in the words of whoever raised them."""

from __future__ import annotations

import signal
import tempfile

import pytest

from execnodes.core.errors import PlanError
from rekindle.pipeline.failures import explained, job_error, passes
from rekindle.spark.java import ended, last_words, text_of, uncaught


def test_a_slow_start_is_no_failure_of_the_job() -> None:
    assert passes("[STREAM_FAILED] … Python worker failed to connect back. SQLSTATE: XXKST")
    assert passes(OTHER.replace("exited", "exited unexpectedly (crashed)"))
    assert passes("TransformWithStateInPySpark driver worker exited unexpectedly (crashed)")
    assert passes("TransformWithStateInPySpark state server daemon thread exited unexpectedly (crashed)")
    assert passes("Job aborted due to stage failure: … ExecutorLostFailure (executor 1 exited …)")
    assert not passes(RAISED)
    assert not passes(PYTHON)
    assert not passes("java.lang.OutOfMemoryError: Java heap space")
    assert not passes(PlanError("Python worker failed to connect back"))
    assert not passes("[USER_RAISED_EXCEPTION] Python worker exited unexpectedly SQLSTATE: P0001")


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
JAVA = """An error occurred while calling o308.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.Foo
Caused by: org.apache.spark.SparkException: Job aborted: Lost task 0.3 (TID 17): java.lang.ArithmeticException: a
\tat Foo

Driver stacktrace:
\tat Bar
Caused by: java.lang.ArithmeticException: a
b
\tat Baz
\t... 1 more"""
UNCAUGHT = "26/11/27 22:18:28 ERROR SparkUncaughtExceptionHandler: Uncaught exception in thread Thread[x,5,main]\n"
OTHER = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Python worker exited SQLSTATE: XXKST
=== Streaming Query ===
Logical Plan: …"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RAISED, "/ by zero"),
        (PYTHON, "column 'ts' is NULL\n  Filter such rows out."),
        (OTHER, "Python worker exited"),
        (JAVA, "ArithmeticException: a\nb"),
        (f"Traceback (most recent call last):\npy4j.protocol.Py4JJavaError: {JAVA}", "ArithmeticException: a\nb"),
        (
            JAVA.replace("lang.Arithmetic", "util.regex.PatternSyntax"),
            "what a row has for a pattern is no regular expression: a\nb",
        ),
        (JAVA[: JAVA.rindex("Caused")], "Job aborted: Lost task 0.3 (TID 17): java.lang.ArithmeticException: a"),
        (
            PYTHON.replace("execnodes.core.errors.JobError: column 'ts'", "ValueError: column 'ts'"),
            "ValueError: column 'ts' is NULL\n  Filter such rows out.",
        ),
    ],
)
def test_the_cause_is_what_is_said(text: str, said: str) -> None:
    assert job_error(text).message == said


class SilentError(Exception):
    """As those of Spark are, when its process has gone."""

    def __str__(self) -> str:
        raise ConnectionRefusedError(111, "Connection refused")


def test_an_error_without_a_text_is_still_an_error() -> None:
    assert text_of(SilentError()) == "SilentError, and its text cannot be had (ConnectionRefusedError)"
    assert explained(SilentError()).message.startswith("SilentError, and its text")


def test_errors_of_ours_speak_for_themselves() -> None:
    error = PlanError("no")
    assert explained(error) is error


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("x.SparkException: java.lang.OutOfMemoryError: Java heap space\n\tat Foo", "Java process is out of", "driver"),
        ("PythonException:\nMemoryError\n SQLSTATE: 39000", "a Python worker is out of memory", "parallelism"),
        (
            "PythonException: Traceback\nModuleNotFoundError: No module named 'execnodes.x'\n SQLSTATE: 39000",
            "a Python worker cannot import execnodes.x",
            "where Spark's executors run",
        ),
        ("Job aborted: SparkException: Python worker exited unexpectedly (crashed)", "was killed, or has", "memory"),
    ],
)
def test_what_workers_lack_says_what_helps(text: str, said: str, hint: str) -> None:
    error = explained(RuntimeError(text))
    assert said in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("code", "said", "hint"),
    [
        (52, "out of memory (it ended with code 52)", "spark.driver.memory"),
        (3, "out of memory", "spark.driver.memory"),
        (-signal.SIGKILL, "was killed (signal 9)", "short of memory"),
        (-signal.SIGSEGV, "has ended by signal 11", "Start the program again"),
        (1, "has ended with code 1", "Start the program again"),
    ],
)
def test_how_the_java_process_ended(code: int, said: str, hint: str) -> None:
    assert said in ended(code).message
    assert hint in (ended(code).hint or "")


def test_an_end_has_its_reason() -> None:
    error = ended(50, "java.lang.StackOverflowError")
    assert error.message == "Spark's Java process has ended with code 50: java.lang.StackOverflowError"
    assert (error.hint or "").startswith(
        "-D spark.driver.extraJavaOptions=-Xss16m gives each thread a larger stack. Sta"
    )


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("a user's function prints\n", ""),
        (UNCAUGHT, ""),
        (f"{UNCAUGHT}java.lang.StackOverflowError\n\tat A\n\tat B\n", "java.lang.StackOverflowError"),
        (
            f"{UNCAUGHT}a.B: old\n{UNCAUGHT}a.B: c\n\tat A\nCaused by: d.E: f\n\t... 5 more\nCaused by: g.H\n\tat I\n",
            "a.B: c, caused by: g.H",
        ),
    ],
)
def test_what_a_process_ends_for(printed: str, said: str) -> None:
    with tempfile.TemporaryFile() as output:
        output.write(printed.encode())
        output.flush()
        position = output.tell()
        assert uncaught(output) == said
        assert output.tell() == position


def test_the_last_words_of_a_process_that_did_not_start() -> None:
    with tempfile.TemporaryFile() as output:
        output.write(b"Error: no such option\n\tat Foo\n26/11/22 11:08:49 WARN Utils: ...\n\n")
        output.flush()
        assert last_words(output) == "Error: no such option"
