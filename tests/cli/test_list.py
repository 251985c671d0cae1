"""The listing of jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rekindle.cli.list import listing, moment
from rekindle.jobs.home import JobInfo
from rekindle.jobs.status import State, Trouble


def job(state: State, error: Trouble | None = None) -> JobInfo:
    return JobInfo("abcdef0123456789", "sales", state, 0, 0, Path("/jobs/a"), 12345, 678.9, None, None, error)


@pytest.mark.parametrize(("state", "speed"), [(State.RUNNING, "679"), (State.STOPPED, "-")])
def test_a_line_a_job(state: State, speed: str) -> None:
    head, line = listing([job(state)])
    assert head.split() == ["JOB", "NAME", "STATE", "SINCE", "ROWS", "ROWS/S", "WATERMARK", "FOLDER"]
    assert line.split("  ")[:2] == ["abcdef01", "sales"]
    assert line.split() == ["abcdef01", "sales", str(state), *moment(0).split(), "12,345", speed, "-", "/jobs/a"]


def test_failures_are_named_below() -> None:
    *_, last = listing([job(State.FAILED, Trouble("a file is broken\nmore of it"))])
    assert last == "abcdef01 failed: a file is broken"
