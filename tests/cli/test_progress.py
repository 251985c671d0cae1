"""Progress of running jobs."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator

from rekindle.cli.jobs import ended
from rekindle.cli.progress import MOST_STATES, LogReporter, PlainReporter, live_table, one_line
from rekindle.runtime.progress import Activity, Progress


def progress(batch_id: int = 11, states: int = 2, late: int = 0) -> Progress:
    counters = {"4_window-aggregate__lateRowsDropped": late} if late else {}
    state = {f"{i}_join__leftState": 1000 * i for i in range(1, states + 1)}
    return Progress(batch_id, 34567, 12345.6, "2013-01-05T00:00:00.000Z" if states else None, state, counters)


def test_one_line() -> None:
    assert one_line(progress(late=5)) == (
        "batch 11: 34,567 rows, 12,346 rows/s, watermark 2013-01-05T00:00:00.000Z, state 3,000 rows, late 5"
    )
    assert one_line(progress(states=0)) == "batch 11: 34,567 rows, 12,346 rows/s"


def test_plain_lines_come_now_and_then() -> None:
    times: Iterator[float] = iter([0.0, 0.0, 1.0, 3.5, 5.0, 6.5])
    out = io.StringIO()
    with PlainReporter(out, lambda: next(times)) as report:
        for batch_id in range(4):
            report(progress(batch_id))
    assert [line.partition(":")[0] for line in out.getvalue().splitlines()] == ["batch 1", "batch 3"]


def test_a_log_tells_the_time_once_a_minute() -> None:
    times: Iterator[float] = iter([0.0, 0.0, 30.0, 61.0])
    out = io.StringIO()
    with LogReporter(out, lambda: next(times)) as report:
        report(progress(1))
        report(progress(2))
    [line] = out.getvalue().splitlines()
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d batch 2: ", line)


def test_live_table_names_the_largest_states() -> None:
    from rich.console import Console

    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(live_table("insert-into_t", progress(states=MOST_STATES + 3, late=7)))
    text = console.export_text()
    assert "insert-into_t" in text
    assert "34,567" in text
    assert f"{MOST_STATES + 3}_join__leftState" in text
    assert "  3_join__leftState" not in text
    assert "and 3 more states" in text
    assert "4_window-aggregate__lateRowsDropped" in text


def test_last_line() -> None:
    assert ended("job", progress(late=5), 12.34) == (
        "job: finished, 34,567 rows in 12 micro-batches, 5 late rows dropped, 12.3 s"
    )
    assert ended("job", None, word="stopped") == "job: stopped, no rows"
    assert ended("job", None, 0.5) == "job: finished, no rows, 0.5 s"
    assert ended("job", None, 0.5, batch=True) == "job: finished, 0.5 s"


def test_a_log_shows_what_a_job_waits_for_every_ten_minutes() -> None:
    out, now = io.StringIO(), [0.0]
    with LogReporter(out, lambda: now[0]) as report:
        for minutes in range(31):
            now[0] = 60.0 * minutes
            report.wait(Activity("executors", round(1000 * time.time()) - 7_000, None))
    lines = out.getvalue().splitlines()
    assert [line[20:] for line in lines] == ["waits for executors, 7 s"] * 3
