"""What made a Spark query fail, in the words of whoever raised it, without Spark's frames around them."""

from __future__ import annotations

import re
from pathlib import Path

from execnodes.core.errors import TRY_AGAIN, JobError, PassingError, RekindleError
from execnodes.core.places import Place, explain
from execnodes.core.version import ENGINE_VERSION
from execnodes.lowering.raising import HINT
from rekindle.connectors.line_text import find_origin
from rekindle.connectors.registry import describe_failure
from rekindle.files.job_folder import NO_ROOM
from rekindle.spark.java import MEMORY, lost, text_of
from rekindle.spark.passing import WORKER_DIED, is_passing, may_pass

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\]\s*(.*?)\s*(?:SQLSTATE: \w+|$)", re.S)
"""What `raise_error` says: a check that an expression makes."""
_PYTHON = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception)): (.*)$")
"""The last line of a Python traceback."""
_CAUSE = re.compile(
    r"^Caused by: ([\w.$]+)(?:: (.*?))?(?=\n\tat |\n\s*\.\.\. |\nCaused by: |\n\nDriver stacktrace|\Z)", re.M | re.S
)
"""What Java says of one exception in a chain: its class, and its text."""
_OF_JAVA = "Py4JJavaError"
_NO_PATTERN = "PatternSyntaxException"
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w+")
_PREFIX = re.compile(r"^\[STREAM_FAILED\] Query \[id = [^]]*\] terminated with exception: ")
_ROW = "Mend the row, leave it out in WHERE, or let TRY_CAST, NULLIF or CASE say what is to come of it."
_FUNCTION = "Mend the function, or leave the row out in WHERE."
_UNKNOWN = "File and line are not known: what failed was given values, and no row straight from a file."
_HINT = "Mend the cause and start the job again from its folder; what was committed stays."
_ROOM = (
    "Free some space where the job's folder, its sinks and Spark's own files (spark.local.dir, TMPDIR) are, and start "
    "the job again."
)
_JAVA_MEMORY = re.compile(r"java\.lang\.OutOfMemoryError(?:: ([^\n]+))?")
_PYTHON_MEMORY = re.compile(r"^(?:MemoryError|pyarrow\.lib\.ArrowMemoryError)\b.*$", re.M)
_NOT_INSTALLED = re.compile(r"ModuleNotFoundError: No module named '((?:execnodes|planner|plans|rekindle)[\w.]*)'")
_NO_PROGRAM = re.compile(r'Cannot run program "([^"\n]*python[^"\n]*)"[^\n]*?error=\d+, ([^\n]+)', re.IGNORECASE)
_PROGRAM = (
    "Put a Python with the same packages there on every host, or set PYSPARK_PYTHON (or spark.pyspark.python) to one."
)
_WORKERS = (
    "If nobody killed it, the system was short of memory: give the machine or container more, lower "
    "parallelism.default (each task has a worker), or make micro-batches smaller (execution.micro-batch.max-files)."
)
"""What helps where workers have too little memory."""


def explained(error: object) -> RekindleError:
    """What made a job fail, as the error of ours that it is or stands for. It never raises."""
    if isinstance(error, RekindleError):
        return error
    text = text_of(error)
    try:
        found = lost(text) or of_disk(error) or describe_failure(text) or _resources(text) or job_error(text)
        if passes(error):
            found.exit_code = TRY_AGAIN
        return found
    except Exception as second:  # noqa: BLE001  # a failure that cannot be explained is still one
        return JobError(f"{text} (and its cause cannot be told: {text_of(second)})", hint=_HINT)


def of_disk(error: object, folder: Path | None = None) -> JobError | None:
    """The error for a file that could not be read or written; None if it is about something else.

    `folder`: named where it is not known which file it was, as when a disk is full.
    """
    if not isinstance(error, OSError) or (error.filename is None and error.errno not in NO_ROOM):
        return None
    hint = _ROOM if error.errno in NO_ROOM else _HINT
    place = error.filename or folder
    return JobError(error.strerror or type(error).__name__, where=str(place) if place else None, hint=hint)


def describe_sink_failure(error: OSError, table: str) -> RekindleError | None:
    """The error for a sink whose file could not be written; None if it is not about a file."""
    if is_passing(error):
        said = error.strerror or type(error).__name__
        where = ", ".join(filter(None, [f"table {table}", error.filename and str(error.filename)]))
        return PassingError(said, where=where, hint=_HINT)
    return of_disk(error)


def told_as(error: BaseException, folder: Path) -> BaseException:
    """What the caller is told of an error at the start of a job in a folder; exceptions of Spark may say little."""
    if isinstance(error, RekindleError) or not isinstance(error, Exception):
        return error
    return lost(text_of(error)) or of_disk(error, folder) or error


def passes(error: object) -> bool:
    """Whether what made a query fail may be gone when it starts again, and says nothing about the job and its rows.

    Whatever is not known to pass is taken to come again: bad rows, failed casts, errors of ours and of the user's code.
    """
    if isinstance(error, RekindleError):
        return isinstance(error, PassingError)
    text = text_of(error)
    said = text.split("=== Streaming Query ===")[0]
    gone = lost(text)
    if gone is not None:
        return isinstance(gone, PassingError)
    return may_pass(said) and not _RAISED.search(said)


def _resources(text: str) -> JobError | None:
    said = text.split("=== Streaming Query ===")[0]
    java = _JAVA_MEMORY.search(said)
    if java:
        return JobError(
            f"Spark's Java process is out of memory{f': {java[1].strip()}' if java[1] else ''}", hint=MEMORY
        )
    if "No space left on device" in said and not _RAISED.search(said):
        return JobError("no space is left on a disk", hint=_ROOM)
    absent = _NOT_INSTALLED.search(said)
    if absent:
        hint = f"Install Rekindle {ENGINE_VERSION} where Spark's executors run, for the Python that they use."
        return JobError(f"a Python worker cannot import {absent[1]}", hint=hint)
    program = _NO_PROGRAM.search(said)
    if program:
        hint = f"Spark's executors run tasks with it. {_PROGRAM}"
        return JobError(f"Python for Spark's tasks cannot be run: {program[1]}: {program[2].strip()}", hint=hint)
    python = _PYTHON_MEMORY.search(said)
    if python:
        return JobError(f"a Python worker is out of memory: {python[0]}", hint=_WORKERS)
    if WORKER_DIED.search(said) and not _RAISED.search(said):
        return JobError("a Python worker of Spark was killed, or has crashed", hint=_WORKERS)
    return None


def job_error(text: str) -> JobError:
    """The JobError for the text of a failed streaming query."""
    said = text.split("=== Streaming Query ===")[0]
    raised = _RAISED.search(said)
    if raised:
        message, place, row = explain(_plain(raised[1]))
        message, _, hint = message.partition(HINT)
        return _of_row(message, place, row, hint or _ROW)
    lines = [line.rstrip() for line in said.splitlines() if line.strip() and not line.startswith("\tat ")]
    causes = _CAUSE.findall(said)
    for at in range(len(lines) - 1, -1, -1):
        found = _PYTHON.match(lines[at])
        # Python may only have waited for what failed in Java.
        if found and not (causes and found[1] == _OF_JAVA):
            return _of_python(_named(found), [line for line in lines[at + 1 :] if line.startswith("  ")])
    if causes:
        return _of_java(*causes[-1])
    return JobError(_plain(_PREFIX.sub("", "\n".join(lines))) or "the query failed without a message", hint=_HINT)


def _of_java(name: str, message: str) -> JobError:
    """A failure in Spark's Java process, by the exception at the end of its chain; those of Spark need no name."""
    simple = name.rpartition(".")[2]
    if simple == _NO_PATTERN:
        return JobError(f"what a row has for a pattern is no regular expression: {message}", hint=_ROW)
    told = message if name.startswith("org.apache.spark.") else f"{simple}: {message}" if message else simple
    return JobError(_plain(told) or simple, hint=_HINT)


def _of_python(message: str, more: list[str]) -> JobError:
    """A failure in a Python worker; `more`: what stands below its first line, which is a hint of ours."""
    said, place, row = explain(_plain(message))
    if place is None:
        return JobError(_plain("\n".join([message, *more])))
    hint = "\n".join(each.strip() for each in more if each.strip())
    return _of_row(said, place, row, _plain(hint) or _FUNCTION)


def _of_row(message: str, place: Place | None, row: str, hint: str) -> JobError:
    """A failure for a row: its place in the SQL, and the line of the file if the row came right from one."""
    if place is None:
        return JobError(message)
    if not row:
        return JobError(message, where=str(place), hint=f"{hint}\n{_UNKNOWN}").at(place)
    file, line = find_origin(row)
    shown = hint if line is None else f"The line is: {line}\n{hint}"
    return JobError(message, where=f"{place}; row of {file}", hint=shown).at(place)


def _named(found: re.Match[str]) -> str:
    """Errors of ours speak for themselves; others need their name."""
    name, message = found[1], found[2]
    return message if name in ("JobError", "DataError", "StateError", "PlanError") else f"{name}: {message}"


def _plain(text: str) -> str:
    return _SQLSTATE.sub("", text).strip()
