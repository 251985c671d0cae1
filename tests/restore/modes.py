"""Restore programs in both modes: rows are judged late by micro-batches (the default), or one by one (``row``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rekindle.testing import RestoreProgram
from tests.restore.program import RestoreProgram as NodeProgram
from tests.restore.program import programs
from tests.restore.programs.windows import LATE

GRANULARITY = "table.exec.lateness.granularity"
OLD_GRANULARITY = "table.exec.watermark.granularity"
_AT_WATERMARKS = "what a sink takes at a watermark is another thing where there are fewer of them"
ONE_MODE: Mapping[str, str] = {
    "stream-exec-deduplicate_1/arrival": "its edits are of the plan of one mode",
    "stream-exec-sink_1/conflicts": _AT_WATERMARKS,
    "stream-exec-sink_1/options": _AT_WATERMARKS,
    "stream-exec-sink_2/settled": _AT_WATERMARKS,
    "stream-exec-window-aggregate_2/clock": "the clock is its time, and no row is late",
}
"""Programs whose nodes read the mode, and that go on in one alone."""
CALLS = Path(__file__).with_name("recorded")
"""What operators were given and gave, and fixtures of the mode that a program's own is not of: see `recording`."""


@dataclass(frozen=True)
class InMode:
    """A program in one of the modes."""

    node_program: NodeProgram
    mode: str
    """default or row."""
    program: RestoreProgram
    fixture: Path
    """With its plan and its savepoint."""

    def __str__(self) -> str:
        return f"{self.node_program}/{self.mode}"

    @property
    def calls(self) -> Path:
        """What its operators were given and gave when it went on."""
        return CALLS / self.node_program.name / f"{self.mode}.jsonl"

    @property
    def own(self) -> bool:
        """Whether the fixture is that of a release."""
        return self.fixture == self.node_program.fixture


def own_mode(program: NodeProgram) -> str:
    """The mode that its fixture is of."""
    settings = {program.configuration.get(each) for each in (GRANULARITY, OLD_GRANULARITY)}
    return "row" if "row" in settings else "default"


def is_timed(program: NodeProgram) -> bool:
    """Whether it has event time, and gives the same rows in both modes."""
    return "WATERMARK FOR" in program.sql.upper() and program.name not in ONE_MODE


def turned(program: NodeProgram) -> RestoreProgram:
    """In the other mode; a row that only the cut would make late is left out."""
    options = {key: value for key, value in program.configuration.items() if key not in (GRANULARITY, OLD_GRANULARITY)}
    if options == program.configuration:
        options = {**options, GRANULARITY: "row"}
    after = program.after if program.after != LATE else {name: _timely(text) for name, text in LATE.items()}
    return RestoreProgram(
        program.name, program.sql, program.queries, program.before, after, options, numbers=program.numbers
    )


def _timely(text: str) -> str:
    """Without the one row of its key."""
    return "".join(line for line in text.splitlines(keepends=True) if '"c"' not in line)


def _modes(program: NodeProgram) -> Iterator[InMode]:
    mode = own_mode(program)
    yield InMode(program, mode, program, program.fixture)
    if is_timed(program):
        other = "default" if mode == "row" else "row"
        yield InMode(program, other, turned(program), CALLS / program.name / other)


@cache
def in_modes() -> tuple[InMode, ...]:
    """All programs in all modes that they have: in those without late rows the other one is the same."""
    return tuple(each for program in programs() if not program.refused for each in _modes(program))
