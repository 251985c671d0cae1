"""Windows drawn at random, counted anew by a model: kind, lengths, keys, calls, changes, lateness and savepoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import resolve
from execnodes.core.expressions import AggregateCall
from execnodes.core.node import ExecNode
from execnodes.core.types import BOOLEAN, INT, STRING, Field, LogicalType, TimeKind, row, timestamp, timestamp_ltz
from execnodes.core.windowing import NamedWindowProperty, Windowing, WindowSpec
from execnodes.lowering.stream import SEQUENCE, OperatorInput, Rows
from execnodes.state.operator import DRAINED, Operator
from execnodes.stream.group_window_aggregate import GroupWindowAggregate
from execnodes.stream.window_aggregate import WindowAggregate
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.users import supplied, user_call

HALF_HOUR = 1_800_000
ZONES = {"UTC": 0, "Asia/Kolkata": 11 * HALF_HOUR}
PROPERTIES = ("WindowStart", "WindowEnd", "WindowTime")
NAMES = ("k", "g", "v", "p", "ts")
Row = tuple[str | None, int | None, int | None, bool | None, int]
"""Keys, value, filter, and the time in milliseconds."""


@dataclass
class Lowering:
    """Keeps the operator that a node makes."""

    zone: str
    made: Operator | None = None

    def operator(self, node: ExecNode, operator: Operator, inputs: tuple[OperatorInput, ...]) -> Rows:
        self.made = operator
        return Rows(node.output_type, ())


@dataclass(frozen=True)
class Case:
    """A query, so to speak."""

    window: WindowSpec
    calls: tuple[AggregateCall, ...]
    grouping: tuple[int, ...]
    local: bool
    zone: str
    retract: bool
    early: bool
    lateness: int

    @property
    def old(self) -> bool:
        """Whether it is one of those that only GROUP BY HOP(…) makes."""
        step = self.window.slide or self.window.size or 1
        return self.early or self.lateness > 0 or (self.window.size or step) % step != 0

    @property
    def time(self) -> LogicalType:
        return timestamp_ltz(3, TimeKind.ROWTIME) if self.local else timestamp(3, TimeKind.ROWTIME)

    @property
    def shift(self) -> int:
        """Local time against UTC, for instants."""
        return ZONES[self.zone] if self.local else 0

    def operator(self) -> Operator:
        given = row(*map(Field, NAMES, (STRING, INT, INT, BOOLEAN, self.time)))
        results = (Field(f"r{at}", call.type) for at, call in enumerate(self.calls))
        shown = map(Field, PROPERTIES, (timestamp(3), timestamp(3), self.time.regular()))
        keys = (given.fields[at] for at in self.grouping)
        options = {"table.local-time-zone": self.zone}
        parts: dict[str, Any] = {
            "id": 7,
            "output_type": row(*keys, *results, *shown),
            "description": "",
            "grouping": self.grouping,
            "agg_calls": self.calls,
            "windowing": Windowing(
                strategy="TimeAttribute", window=self.window, time_attribute_type=self.time, time_attribute_index=4
            ),
            "named_window_properties": tuple(
                NamedWindowProperty.model_validate({"name": each, "property": each}) for each in PROPERTIES
            ),
            "need_retraction": self.retract,
        }
        if self.old:
            options["table.exec.emit.early-fire.enabled"] = str(self.early).lower()
            options["table.exec.emit.allow-lateness"] = f"{self.lateness} ms"
            node: ExecNode = GroupWindowAggregate(**parts, configuration=options, generate_update_before=True)
        else:
            node = WindowAggregate(**parts, configuration=options)
        node.check((given,))
        lowering = Lowering("UTC")
        node.lower(lowering, (Rows(given, ()),))  # type: ignore[arg-type]  # it asks for nothing else
        assert lowering.made is not None
        return supplied(lowering.made)


@st.composite
def call(draw: st.DrawFn, retract: bool) -> AggregateCall:
    names = ["COUNT", "SUM", "AVG", "MIN", "MAX"] + ([] if retract else ["FIRST_VALUE", "LAST_VALUE", "LISTAGG"])
    name = draw(st.sampled_from(["COUNT(*)", *names]))
    args = () if name == "COUNT(*)" else (0,) if name == "LISTAGG" else (2,)
    distinct = bool(args) and name in ("COUNT", "SUM", "AVG") and draw(st.booleans())
    filtered = draw(st.integers(0, 3)) == 0
    types = tuple((STRING, INT, INT)[at] for at in args)
    internal, result = resolve(name.removesuffix("(*)"), types, distinct=distinct, filtered=filtered)
    filter_arg = 3 if filtered else -1
    if draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(["total"] if retract else ["total", "texts", "least"]))
        plain = AggregateCall(name=name, internal_name="$SUM$1", arg_list=(2,), filter_arg=filter_arg, type=INT)
        return user_call(name, plain)
    return AggregateCall(
        name=name, internal_name=internal, arg_list=args, distinct=distinct, filter_arg=filter_arg, type=result
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    retract = draw(st.booleans())
    kind = draw(st.sampled_from(["TUMBLE", "HOP", "CUMULATE", "SESSION"]))
    grouping = draw(st.sampled_from([(), (0,), (1, 0)]))
    step, times = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    early, lateness, size = False, 0, step * times
    if kind == "HOP" and draw(st.booleans()):
        size = draw(st.integers(1, 20))
    if kind in ("TUMBLE", "HOP") and draw(st.integers(0, 2)) == 0:
        early, lateness = draw(st.booleans()), draw(st.sampled_from([0, 1, 7]))
    window = {
        "TUMBLE": WindowSpec(type="TumblingWindow", size=size, offset=draw(st.integers(1 - size, size - 1))),
        "HOP": WindowSpec(type="HoppingWindow", size=size, slide=step, offset=draw(st.integers(1 - step, step - 1))),
        "CUMULATE": WindowSpec(type="CumulativeWindow", max_size=size, step=step, offset=draw(st.integers(0, step))),
        "SESSION": WindowSpec(type="SessionWindow", gap=step, partition_key_indices=grouping),
    }[kind]
    drawn = draw(st.lists(call(retract), min_size=1, max_size=4))
    calls = tuple(each.model_copy(update={"name": f"{at} {each.name}"}) for at, each in enumerate(drawn))
    # Rows that are taken back from a session of other rows are of the tests of sessions.
    retract = retract and kind != "SESSION"
    return Case(window, calls, grouping, draw(st.booleans()), draw(st.sampled_from([*ZONES])), retract, early, lateness)


KEYS = st.sampled_from(["a", "b", None])
ROWS = st.tuples(
    KEYS, st.sampled_from([1, None]), st.none() | st.integers(-3, 3), st.none() | st.booleans(), st.integers(-10, 40)
)
BATCHES = st.lists(st.tuples(st.lists(ROWS, max_size=7), st.integers(-3, 9), st.booleans()), max_size=6)
Key = tuple[object, ...]
Bounds = tuple[int, int]


@dataclass
class Model:
    """All rows of all windows; bounds are local."""

    case: Case
    windows: dict[tuple[Key, Bounds], list[tuple[int, Row]]] = field(default_factory=dict)
    """Rows with their places in the order of arrival."""
    arrived: int = 0

    def take(self, taken: Row, seen: int, back: bool) -> None:
        key, at = tuple(taken[each] for each in self.case.grouping), taken[4] + self.case.shift
        self.arrived += 1
        for bounds in self._session(key, at, seen) if self.case.window.type == "SessionWindow" else self._all(at):
            if seen < self.last(bounds) + self.case.lateness:
                rows = self.windows.setdefault((key, bounds), [])
                if back:
                    rows.remove(next(each for each in rows if each[1] == taken))
                else:
                    rows.append((self.arrived, taken))

    def last(self, bounds: Bounds) -> int:
        """The watermark that ends a window."""
        return bounds[1] - 1 - self.case.shift

    def _all(self, at: int) -> list[Bounds]:
        window, offset = self.case.window, self.case.window.offset or 0
        step, size = window.slide or window.max_size or window.size or 1, window.size or window.max_size or 0
        first, found = (at - size - offset) // step, list[Bounds]()
        for number in range(first - 1, (at - offset) // step + 2):
            start = number * step + offset
            ends = range(window.step, size + 1, window.step) if window.step else (size,)
            found += [(start, start + length) for length in ends if start <= at < start + length]
        return found

    def _session(self, key: Key, at: int, seen: int) -> list[Bounds]:
        """The session that a row is in, made one of those that it touches and that have not fired."""
        gap = self.case.window.gap or 0
        touched = [
            (own, bounds)
            for own, bounds in self.windows
            if own == key and bounds[0] <= at + gap and at <= bounds[1] and seen < self.last(bounds)
        ]
        merged = min([at, *(b[0] for _, b in touched)]), max([at + gap, *(b[1] for _, b in touched)])
        rows = [each for one in touched for each in self.windows.pop(one)]
        if rows:
            self.windows[key, merged] = sorted(rows, key=lambda each: each[0])
        return [merged]

    def given(self, watermark: int, before: int) -> list[tuple[object, ...]]:
        """The table of all rows that have been given, or of final ones those that are given now."""
        found = []
        for (key, bounds), rows in self.windows.items():
            ended = self.last(bounds) <= watermark
            if rows and ((ended or self.case.early) if self.case.old else (ended and self.last(bounds) > before)):
                passed = [each for _, each in rows]
                values = (result(each, passed) for each in self.case.calls)
                shown = (bounds[0], bounds[1], self.last(bounds))
                found.append((*key, *values, *(each * 1000 for each in shown)))
        return found

    def forget(self, watermark: int) -> None:
        self.windows = {key: rows for key, rows in self.windows.items() if self.last(key[1]) > watermark}


def result(call: AggregateCall, rows: Sequence[Row]) -> object:
    passing = [each for each in rows if call.filter_arg < 0 or each[3] is True]
    if not call.arg_list:
        return len(passing)
    name = call.name.split()[1]
    if name == "texts":
        return " ".join(str(each[2]) for each in passing)
    values: list[Any] = [each[call.arg_list[0]] for each in passing if each[call.arg_list[0]] is not None]
    values = list(dict.fromkeys(values)) if call.distinct else values
    if name == "COUNT":
        return len(values)
    if not values:
        return None
    whole: dict[str, Callable[[list[Any]], object]] = {
        "SUM": sum,
        "AVG": lambda found: int(sum(found) / len(found)),
        "MIN": min,
        "MAX": max,
        "FIRST_VALUE": lambda found: found[0],
        "LAST_VALUE": lambda found: found[-1],
        "LISTAGG": ",".join,
        "total": sum,
        "least": min,
    }
    return whole[name](values)


def check(case: Case, batches: list[tuple[list[Row], int, bool]], data: st.DataObject) -> None:
    made, model = case.operator(), Model(case)
    watermark, alive, table = -20, list[Row](), list[tuple[object, ...]]()
    context = FakeContext(made, watermark)
    for rows, moves, saved in [*batches, ([], DRAINED, False)]:
        taken, kinds = list[Row](), list[int]()
        for each in rows:
            back = case.retract and bool(alive) and data.draw(st.booleans())
            one = alive.pop(data.draw(st.integers(0, len(alive) - 1))) if back else each
            alive += [] if back else [one]
            taken.append(one)
            kinds.append(3 if back else 0)
            model.take(one, watermark, back)
        before, watermark = watermark, max(watermark, min(DRAINED, watermark + moves))
        frame = rows_of(made, 0, [(*each[:4], each[4] * 1000) for each in taken], kinds, keys=case.grouping)
        for *values, kind in run(made, context, frame, watermark=watermark).drop(SEQUENCE, strict=False).rows():
            if kind in (1, 3):
                table.remove(tuple(values))
            else:
                table.append(tuple(values))
        assert sorted(map(repr, table)) == sorted(map(repr, model.given(watermark, before)))
        if not case.old:
            table.clear()
            model.forget(watermark)
        if saved:
            context = moved(made, context)
    assert all(state.frame.is_empty() for state in context.states.values())


def moved(made: Operator, old: FakeContext) -> FakeContext:
    """The states of a savepoint in a new job."""
    new = FakeContext(made, old.watermark)
    for spec in made.states:
        if not spec.derived:
            made.restore(spec.name, old.states[spec.name].frame, new)
    return new


@given(case=cases(), batches=BATCHES, data=st.data())
@settings(max_examples=150, deadline=None)
def test_windows(case: Case, batches: list[tuple[list[Row], int, bool]], data: st.DataObject) -> None:
    check(case, batches, data)


@pytest.mark.long
@given(case=cases(), batches=BATCHES, data=st.data())
@settings(max_examples=5000, deadline=None)
def test_many_windows(case: Case, batches: list[tuple[list[Row], int, bool]], data: st.DataObject) -> None:
    check(case, batches, data)
