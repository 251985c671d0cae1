"""Where a running job is: a live display on a terminal, plain lines now and then when piped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    from rekindle.runtime.progress import Activity, Progress

EVERY = 3.0
"""Seconds between plain lines."""
MOST_STATES = 12
"""States a live display shows; the largest ones."""


class Reporter(Protocol):
    """Told of every micro-batch; a context manager around the run."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __call__(self, progress: Progress) -> None:
        """Report where the job is."""

    def wait(self, activity: Activity) -> None:
        """Report what it does or waits for while no micro-batch ends."""


class PlainReporter:
    """One line every few seconds, and none for jobs that end before."""

    every = EVERY

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._last = clock()

    def __enter__(self) -> Self:
        self._last = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to put away."""

    def __call__(self, progress: Progress) -> None:
        """Print a line if the last one is old enough."""
        now = self._clock()
        if now - self._last >= self.every:
            self._last = now
            self._say(one_line(progress))

    def wait(self, activity: Activity) -> None:
        """Say nothing: who looks at it sees that nothing comes."""

    def _say(self, text: str) -> None:
        print(text, file=self._out, flush=True)


class LogReporter(PlainReporter):
    """A line a minute with the time of day, for logs."""

    every = 60.0
    silence = 600.0
    """Seconds without a micro-batch from one line to the next."""

    def wait(self, activity: Activity) -> None:
        """Show that the job lives, and what it waits for."""
        now = self._clock()
        if now - self._last >= self.silence:
            self._last = now
            self._say(activity_text(activity.kind, activity.since, round(time.time() * 1000)))

    def _say(self, text: str) -> None:
        super()._say(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")


class LiveReporter:
    """A table that is redrawn in place and gone at the end."""

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._name = name
        self._live: Live | None = None

    def __enter__(self) -> Self:
        from rich.live import Live
        from rich.spinner import Spinner

        waiting = Spinner("dots", f" {self._name}: starting")
        self._live = Live(waiting, console=self._console, transient=True, refresh_per_second=8)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Redraw."""
        if self._live is not None:
            self._live.update(live_table(self._name, progress))

    def wait(self, activity: Activity) -> None:
        """The last micro-batch stays."""


_ACTIVITIES = {
    "micro-batch": "micro-batch, {}",
    "input": "idle, {}",
    "executors": "waits for executors, {}",
    "restart": "waits to restart, {}",
}


def activity_text(kind: str, since: int, now: int) -> str:
    """What a job does or waits for, and for how long: ``idle, 6 min``. Times in epoch ms."""
    return _ACTIVITIES.get(kind, f"{kind}, {{}}").format(duration(max(0, now - since) // 1000))


def duration(seconds: int) -> str:
    """``7 s``, ``6 min``, ``5 h``, ``3 d``."""
    for size, unit in (86_400, "d"), (3600, "h"), (60, "min"):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def one_line(progress: Progress) -> str:
    """``batch 12: 34,567 rows, 12,345 rows/s, watermark …, state 1,234 rows, late 5``."""
    return f"batch {progress.batch_id}: " + ", ".join(_facts(progress))


def _facts(progress: Progress) -> Iterator[str]:
    yield f"{progress.rows:,} rows"
    yield f"{progress.rows_per_second:,.0f} rows/s"
    if progress.watermark:
        yield f"watermark {progress.watermark}"
    if progress.state_rows:
        yield f"state {sum(progress.state_rows.values()):,} rows"
    late = late_rows(progress)
    if late:
        yield f"late {late:,}"


def late_rows(progress: Progress) -> int:
    """Rows that operators dropped as late."""
    return sum(count for name, count in progress.counters.items() if name.endswith("lateRowsDropped"))


def live_table(name: str, progress: Progress) -> Table:
    """Two columns: what, and how much; the state rows of every operator by uid and state name."""
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_row(name, f"batch {progress.batch_id}")
    table.add_row("rows", f"{progress.rows:,}")
    table.add_row("rows/s", f"{progress.rows_per_second:,.0f}")
    table.add_row("watermark", progress.watermark or "-")
    largest = sorted(progress.state_rows.items(), key=lambda item: -item[1])
    for state, rows in largest[:MOST_STATES]:
        table.add_row(f"  {state}", f"{rows:,} rows")
    if len(largest) > MOST_STATES:
        table.add_row(f"  and {len(largest) - MOST_STATES} more states", "")
    for counter, value in sorted(progress.counters.items()):
        table.add_row(f"  {counter}", f"{value:,}")
    return table
