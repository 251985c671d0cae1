"""Windows of table functions and how a node knows a row's window; lengths are milliseconds, in plans ISO text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import gcd
from typing import Annotated
from typing import Literal as Tag

from pydantic import BeforeValidator, PlainSerializer

from execnodes.core.indexes import ColumnIndex
from execnodes.core.node import PlanModel
from execnodes.core.options import LONGEST
from execnodes.core.types import LogicalType, Root, TimeKind
from execnodes.terms.term import Term, leaf, said

_ISO = re.compile(r"PT(?:(-?\d{1,18})H)?(?:(-?\d{1,18})M)?(?:(-?)(\d{1,18})(?:\.(\d{1,3}))?S)?", re.ASCII)


def iso_duration(millis: int) -> str:
    """``5000`` as ``PT5S``; hours are the largest unit and each part carries the sign, as Java writes a Duration."""
    sign = "-" if millis < 0 else ""
    seconds, rest = divmod(abs(millis), 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest:03}".rstrip("0") if rest else ""
    parts = [f"{sign}{hours}H"] if hours else []
    parts += [f"{sign}{minutes}M"] if minutes else []
    parts += [f"{sign}{seconds}{fraction}S"] if seconds or rest or not parts else []
    return "PT" + "".join(parts)


def parse_iso_duration(text: object) -> int:
    """Milliseconds of ``PT5S``; an int is taken as milliseconds; ValueError for anything else."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    match = _ISO.fullmatch(text) if isinstance(text, str) and text != "PT" else None
    if match is None:
        raise ValueError(f"{text!r} is not a duration; expected e.g. 'PT5S' or 'PT1H30M'")
    hours, minutes, sign, seconds, fraction = match.groups()
    tail = int(seconds or 0) * 1000 + int((fraction or "0").ljust(3, "0"))
    return _bounded(int(hours or 0) * 3_600_000 + int(minutes or 0) * 60_000 + (-tail if sign else tail))


def _bounded(millis: int) -> int:
    if abs(millis) > LONGEST:
        raise ValueError(f"a duration of {millis:.3e} ms is longer than {LONGEST:.0e} ms")
    return millis


Duration = Annotated[int, BeforeValidator(parse_iso_duration), PlainSerializer(iso_duration, when_used="always")]
"""Milliseconds; in JSON ``PT15S``."""


_ZONES = 900_000
"""Milliseconds by multiples of which time zones differ."""


class WindowSpec(PlanModel):
    """Shape of a window; which lengths are set depends on `type`."""

    type: Tag["TumblingWindow", "HoppingWindow", "CumulativeWindow", "SessionWindow"]
    size: Duration | None = None
    """Of TumblingWindow and HoppingWindow."""
    slide: Duration | None = None
    """Of HoppingWindow; `size` is a multiple of it."""
    offset: Duration | None = None
    """Shift of all windows against the epoch; None is 0."""
    max_size: Duration | None = None
    """Of CumulativeWindow."""
    step: Duration | None = None
    """Of CumulativeWindow."""
    gap: Duration | None = None
    """Of SessionWindow."""
    partition_key_indices: tuple[ColumnIndex, ...] = ()
    """Of SessionWindow: input columns of its PARTITION BY."""

    def __str__(self) -> str:
        return ", ".join(f"{name}=[{text}]" for name, text in self.lengths())

    def lengths(self) -> list[tuple[str, str]]:
        """The lengths that it has, by name, for people."""
        lengths = (("max_size", self.max_size), ("step", self.step), ("size", self.size), ("slide", self.slide))
        found = [(name, length_text(value)) for name, value in (*lengths, ("gap", self.gap)) if value is not None]
        return [*found, *([("offset", length_text(self.offset))] if self.offset else [])]

    @property
    def between_ends(self) -> int:
        """Milliseconds: windows end at multiples of this in every time zone; of sessions about how exact to be."""
        if self.gap is not None:
            return max(self.gap // 400 * 100, 100)
        step = self.slide or self.step or self.size or 0
        return gcd(step, self.size or 0, self.offset or 0, _ZONES)

    @property
    def kind(self) -> str:
        """Name of the SQL function: TUMBLE, HOP, CUMULATE or SESSION."""
        names = {"TumblingWindow": "TUMBLE", "HoppingWindow": "HOP", "CumulativeWindow": "CUMULATE"}
        return names.get(self.type, "SESSION")


class Windowing(PlanModel):
    """How a node finds the window of a row: from its time, or from its window columns (WindowAttached)."""

    strategy: Tag["TimeAttribute", "WindowAttached"]
    window: WindowSpec
    time_attribute_type: LogicalType
    time_attribute_index: ColumnIndex | None = None
    """Input column of the time attribute; only with TimeAttribute."""
    window_start: ColumnIndex | None = None
    """Input column of the window's start; only with WindowAttached."""
    window_end: ColumnIndex | None = None
    """Input column of the window's end; only with WindowAttached."""

    @property
    def clocked(self) -> WindowSpec | None:
        """The windows, if they go by processing time."""
        return self.window if self.time_attribute_type.kind is TimeKind.PROCTIME else None

    @property
    def required_times(self) -> tuple[int, ...]:
        """The input column that decides which window a row is in; NULL is in none."""
        at = self.time_attribute_index if self.strategy == "TimeAttribute" else self.window_end
        return () if at is None else (at,)

    def term(self, columns: Sequence[Term], zone: str) -> Term:
        """What decides which windows a row is in, over the input's columns."""
        at = self.time_attribute_index if self.strategy == "TimeAttribute" else self.window_end
        parts: dict[str, Term | tuple[Term, ...]] = {"function": leaf("function", self.window.kind)}
        parts["time"] = () if at is None else columns[at]
        parts |= {name: leaf("length", text) for name, text in self.window.lengths()}
        says = f"{{function}}({{time}}, {', '.join(f'{name}=[{{{name}}}]' for name, _ in self.window.lengths())}"
        if self.window.partition_key_indices:
            says += ", partition {partition:, partition }"
            parts["partition"] = tuple(columns[each] for each in self.window.partition_key_indices)
        says += ")"
        if self.time_attribute_type.root is Root.TIMESTAMP_LTZ:
            says += " local time of {zone}"
            parts["zone"] = leaf("zone", zone)
        return said("window", says, **parts)


def window_bound(property: str, window: Term) -> Term:
    """Start, end or time of a row's window."""
    return said("window bound", "{property} of {window}", property=leaf("property", property), window=window)


class SlicedWindowing(PlanModel):
    """How a node finds the slice of a row: from a column."""

    strategy: Tag["SliceAttached"] = "SliceAttached"
    window: WindowSpec
    time_attribute_type: LogicalType
    slice_end: ColumnIndex
    """Input column of the slice's end."""

    @property
    def clocked(self) -> WindowSpec | None:
        """The windows, if they go by processing time."""
        return self.window if self.time_attribute_type.kind is TimeKind.PROCTIME else None

    def term(self, columns: Sequence[Term], zone: str) -> Term:
        """As of the windowing that the slices were made by; their column means the time attribute."""
        return Windowing(
            strategy="TimeAttribute",
            window=self.window,
            time_attribute_type=self.time_attribute_type,
            time_attribute_index=self.slice_end,
        ).term(columns, zone)


def step_problem(window: WindowSpec) -> str | None:
    """Why windows are not made of whole steps; None if they are."""
    lengths = {
        "TumblingWindow": (window.size, window.size),
        "HoppingWindow": (window.size, window.slide),
        "CumulativeWindow": (window.max_size, window.step),
    }.get(window.type, (None, None))
    size, step = lengths
    if not size or not step or size < 0 or step < 0:
        return f"this version cannot aggregate over a {window.type} without positive lengths"
    if size % step:
        return f"the size of a {window.type} ({size} ms) must be a multiple of its step ({step} ms)"
    return None


class NamedWindowProperty(PlanModel):
    """An output column that tells something about the window."""

    name: str
    property: Tag["WindowStart", "WindowEnd", "WindowTime"]


def window_times(properties: Sequence[NamedWindowProperty], first: int) -> frozenset[int]:
    """Output columns that are the time of the window, of properties that stand from column `first` on."""
    return frozenset(at for at, each in enumerate(properties, first) if each.property == "WindowTime")


_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def length_text(millis: int) -> str:
    """A length for people: ``10 s``, ``1 h``, ``1500 ms``."""
    for unit, name in _UNITS:
        if millis and millis % unit == 0:
            return f"{millis // unit} {name}"
    return f"{millis} ms"
