"""`rekindle list`: the jobs there are, and how they are."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rekindle.cli.arguments import AsJson, Options
from rekindle.cli.inputs import configured
from rekindle.cli.progress import activity_text
from rekindle.jobs.home import SHORT

if TYPE_CHECKING:
    from rekindle.jobs.home import JobInfo
    from rekindle.jobs.status import Trouble

_HEADS = ("JOB", "NAME", "STATE", "SINCE", "ACTIVITY", "ROWS", "ROWS/S", "WATERMARK", "FOLDER")
_RIGHT = (5, 6)


def list_jobs(as_json: AsJson = False, options: Options = None) -> None:
    """List the jobs of the jobs folder: ids, names, states, rows and watermarks. Running ones come first."""
    from rekindle.jobs import home

    configuration = configured(options)
    jobs = home.list_jobs(configuration)
    if as_json:
        print(json.dumps([job.as_json() for job in jobs], indent=2, ensure_ascii=False))
    elif not jobs:
        print(f"No jobs in {home.jobs_dir(configuration)}. Start one with: rekindle run -d plan.json")
    else:
        print("\n".join(listing(jobs)))


def listing(jobs: Sequence[JobInfo]) -> Iterator[str]:
    """Aligned lines, a head first; what made jobs fail stands below."""
    table = [_HEADS, *map(_cells, jobs)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        padded = (
            cell.rjust(width) if at in _RIGHT else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield "  ".join(padded).rstrip()
    for job in jobs:
        if job.error is not None and job.state == "FAILED":
            yield f"{job.job_id[:SHORT]} failed: {_line(job.error.message)}{_place(job.error)}"
        if job.restarts:
            times = "once" if job.restarts == 1 else f"{job.restarts} times"
            yield f"{job.job_id[:SHORT]} restarted {times}, last after: {_line(job.restarted_after or '')}"
        if job.error is not None and job.state == "BROKEN":
            yield f"{job.job_id[:SHORT]} cannot be read: {_line(job.error.message)} ({job.error.where})"


def _place(error: Trouble) -> str:
    """Which file, table or host a message is about, unless it says so itself."""
    return f" ({_line(error.where)})" if error.where and error.where not in error.message else ""


def _activity(job: JobInfo) -> str:
    now = round(time.time() * 1000)
    return "-" if job.activity is None else activity_text(job.activity, job.activity_since or now, now)


def _line(text: str) -> str:
    """The first line, without what a terminal would obey."""
    first = (text.splitlines() or [""])[0]
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in first)


def _cells(job: JobInfo) -> tuple[str, ...]:
    running = job.state == "RUNNING"
    return (
        job.job_id[:SHORT],
        _line(job.name),
        str(job.state),
        "-" if job.state == "BROKEN" else moment(job.since),
        _line(_activity(job)) if running else "-",
        "-" if job.rows is None else f"{job.rows:,}",
        f"{job.rows_per_second:,.0f}" if running and job.rows_per_second else "-",
        _line(job.watermark or "-"),
        _line(str(job.folder)),
    )


def moment(millis: int) -> str:
    """Epoch milliseconds in local time."""
    return datetime.fromtimestamp(millis / 1000).strftime("%Y-%m-%d %H:%M:%S")
