"""What made a Spark query fail, in the words of whoever raised it, without Spark's frames around them."""

from __future__ import annotations

import re

from execnodes.core.errors import JobError

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\]\s*(.*?)\s*(?:SQLSTATE: \w+|$)", re.S)
"""What `raise_error` says: a check that an expression makes."""
_PYTHON = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception)): (.*)$")
"""The last line of a Python traceback."""
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w+")
_PREFIX = re.compile(r"^\[STREAM_FAILED\] Query \[id = [^]]*\] terminated with exception: ")
_HINT = "Mend the cause and start the job again from its folder; what was committed stays."


def is_transient(text: str) -> bool:
    """Whether a failure says nothing about the job: Spark waits ten seconds for a Python worker, and no longer."""
    return "Python worker failed to connect back" in text


def job_error(text: str) -> JobError:
    """The JobError for the text of a failed streaming query."""
    said = text.split("=== Streaming Query ===")[0]
    raised = _RAISED.search(said)
    if raised:
        return JobError(_plain(raised[1]))
    lines = [line.rstrip() for line in said.splitlines() if line.strip() and not line.startswith("\tat ")]
    for at in range(len(lines) - 1, -1, -1):
        found = _PYTHON.match(lines[at])
        if found:
            more = [line for line in lines[at + 1 :] if line.startswith("  ")]
            return JobError(_plain("\n".join([_named(found), *more])))
    return JobError(_plain(_PREFIX.sub("", "\n".join(lines))) or "the query failed without a message", hint=_HINT)


def _named(found: re.Match[str]) -> str:
    """Errors of ours speak for themselves; others need their name."""
    name, message = found[1], found[2]
    return message if name in ("JobError", "DataError", "StateError", "PlanError") else f"{name}: {message}"


def _plain(text: str) -> str:
    return _SQLSTATE.sub("", text).strip()
