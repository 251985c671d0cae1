"""The listing of jobs."""

from __future__ import annotations

import re
import time
from dataclasses import replace
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
    assert head.split() == ["JOB", "NAME", "STATE", "SINCE", "ACTIVITY", "ROWS", "ROWS/S", "WATERMARK", "FOLDER"]
    assert line.split("  ")[:2] == ["abcdef01", "sales"]
    assert line.split() == ["abcdef01", "sales", str(state), *moment(0).split(), "-", "12,345", speed, "-", "/jobs/a"]


def test_failures_are_named_below() -> None:
    *_, last = listing([job(State.FAILED, Trouble("a file is broken\nmore of it"))])
    assert last == "abcdef01 failed: a file is broken"


def test_a_failure_names_the_place_that_its_message_leaves_out() -> None:
    *_, last = listing([job(State.FAILED, Trouble("the file was rewritten", "/in/a.json"))])
    assert last == "abcdef01 failed: the file was rewritten (/in/a.json)"
    *_, last = listing([job(State.FAILED, Trouble("the file /in/a.json was rewritten", "/in/a.json"))])
    assert last == "abcdef01 failed: the file /in/a.json was rewritten"


@pytest.mark.parametrize(
    ("activity", "seconds", "text"),
    [
        ("micro-batch", 5, "micro-batch, 5 s"), ("input", 400, "idle, 6 min"),
        ("executors", 40, "waits for executors, 40 s"), ("restart", 0, "waits to restart, 0 s"),
        ("batch", 7300, "batch, 2 h"), ("no heartbeat", 200_000, "no heartbeat, 2 d"), ("of later", 1, "of later, 1 s"),
    ],
)  # fmt: skip
def test_what_a_job_waits_for_is_shown(activity: str, seconds: int, text: str) -> None:
    since = round(time.time() * 1000) - 1000 * seconds
    shown = replace(job(State.RUNNING), activity=activity, activity_since=since, rows_per_second=0.0)
    _, line = listing([shown])
    assert re.split("  +", line)[4:7] == [text, "12,345", "-"]
