"""MATCH_RECOGNIZE against regular expressions, and rows that come in any cuts against rows that come at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import JobError
from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.match_spec import AfterMatch, Definition, MatchSpec, PatternVariable, RowReference
from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BIGINT, BOOLEAN, STRING, LogicalType, TimeKind, timestamp
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.match.v1_kernel import BEGUN, TIMEOUTS, WAITING, MatchOperator
from execnodes.stream.over_aggregate.v1_event_time import LATE
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (
    Column("k", STRING),
    Column("letter", STRING),
    Column("v", BIGINT),
    Column("ts", timestamp(3, TimeKind.ROWTIME)),
)
Row = tuple[str | None, str, int | None, int]
"""Its time is in milliseconds."""
QUANTIFIERS = {"": (1, 1), "?": (0, 1), "*": (0, -1), "+": (1, -1), "{2}": (2, 2), "{1,2}": (1, 2), "{2,}": (2, -1)}


def pattern(text: str) -> tuple[PatternVariable, ...]:
    """``a b+ c*?``."""
    found = []
    for name, quantifier, reluctant in re.findall(r"(\w)(\?|[*+]|\{[\d,]+\})?(\??)", text):
        least, most = QUANTIFIERS[quantifier]
        found.append(PatternVariable(name=name, min_rows=least, max_rows=most, reluctant=bool(reluctant)))
    return tuple(found)


def read(
    variable: str, column: int, function: str = "LAST", offset: int = 0, type: LogicalType = BIGINT
) -> RowReference:
    return RowReference(variable=variable, function=function, offset=offset, arg_list=(column,), type=type)


def compared(name: str, left: int, right: Expression) -> Call:
    return Call(internal_name=f"${name}$1", operands=(InputRef(input_index=left, type=right.type), right), type=BOOLEAN)


def operator(
    text: str,
    skip: AfterMatch | None = None,
    within: int | None = None,
    *,
    references: tuple[RowReference, ...] | None = None,
    definitions: tuple[Definition, ...] | None = None,
    measures: tuple[RowReference, ...] = (read("*", 2, "FIRST"), read("*", 2)),
) -> MatchOperator:
    """By default a row becomes the variable that its letter names, and a match gives its first and its last v."""
    variables = pattern(text)
    if references is None:
        references = tuple(read(each.name, 1, type=STRING) for each in variables)
        definitions = tuple(
            Definition(variable=each.name, condition=compared("=", at, Literal(value=each.name, type=STRING)))
            for at, each in enumerate(variables)
        )
    spec = MatchSpec(
        partition=(0,),
        order_by=SortSpec(fields=(SortField(index=3),)),
        pattern=variables,
        references=references,
        definitions=definitions or (),
        measures=measures,
        after=skip or AfterMatch(skip="PAST LAST ROW"),
        within=within,
    )
    output = (COLUMNS[0], *(Column(f"m{at}", each.type) for at, each in enumerate(measures)))
    return MatchOperator("5_match", spec, COLUMNS, output)


def matched(
    match: MatchOperator, rows: list[Row], cuts: Sequence[int] = (), context: FakeContext | None = None
) -> list[tuple[object, ...]]:
    """What it gives of rows whose times ascend, when the watermark is just before the first row behind each cut."""
    context = context or FakeContext(match)
    names, found = [each.name for each in match.output], []
    bounds = [0, *sorted({*cuts}), len(rows)]
    for number, (begin, end) in enumerate(pairwise(bounds)):
        ahead = rows[end][3] - 1 if end < len(rows) else DRAINED
        frame = rows_of(match, 0, [(*row[:3], row[3] * 1000) for row in rows[begin:end]], keys=[0])
        context.now = number
        found += run(match, context, frame, watermark=ahead).select(names).rows()
    return found


def of_letters(letters: str, step: int = 10) -> list[Row]:
    return [("k", letter, at, at * step) for at, letter in enumerate(letters)]


@st.composite
def plain_patterns(draw: st.DrawFn) -> str:
    """Variables with a letter each, so that a row can be one of them only: then both engines mean the same."""
    parts = [f"{name}{draw(st.sampled_from(list(QUANTIFIERS)))}" for name in "abc"[: draw(st.integers(1, 3))]]
    if parts[-1][1:] not in ("", "{2}"):
        parts.append("d")
    text = " ".join(parts)
    # Flink does not look for variables behind greedy ones that need no row.
    return text if all(not (one.greedy and not two.min_rows) for one, two in pairwise(pattern(text))) else "a b+ c"


LETTERS = st.text("abcdx", max_size=30)


@settings(max_examples=200, deadline=None)
@given(text=plain_patterns(), letters=LETTERS)
def test_matches_are_those_of_a_regular_expression(text: str, letters: str) -> None:
    expression = re.compile(text.replace(" ", ""))
    rows = of_letters(letters)
    expected = [("k", each.start(), each.end() - 1) for each in expression.finditer(letters)]
    assert matched(operator(text), rows) == expected
    next_rows = [each for at in range(len(letters)) for each in [expression.match(letters, at)] if each is not None]
    assert sorted(matched(operator(text, AfterMatch(skip="TO NEXT ROW")), rows)) == [
        ("k", each.start(), each.end() - 1) for each in next_rows
    ]


PATTERNS = ("a b+ c", "a b*? c", "a{1,2} b{2,}? c", "a+? b? c", "a b c*?", "a{2} b+? c+?", "a+ b")
SKIPS = (
    AfterMatch(skip="PAST LAST ROW"), AfterMatch(skip="TO NEXT ROW"), AfterMatch(skip="TO FIRST", variable="b"),
    AfterMatch(skip="TO LAST", variable="b"),
)  # fmt: skip
RISING = (
    (read("b", 2), read("b", 2, offset=1), read("a", 2), RowReference(
        variable="*", function="$SUM$1", arg_list=(2,), type=BIGINT)),
    (
        Definition(variable="b", condition=Call(internal_name="$OR$1", type=BOOLEAN, operands=(
            compared(">", 0, InputRef(input_index=1, type=BIGINT)),
            compared(">=", 0, InputRef(input_index=2, type=BIGINT))))),
        Definition(variable="c", condition=compared("<", 3, Literal(value=12, type=BIGINT))),
    ),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    data=st.data(), text=st.sampled_from(PATTERNS), skip=st.sampled_from(SKIPS),
    within=st.sampled_from([None, 15, 40, 100_000]), rising=st.booleans(),
)  # fmt: skip
def test_cuts_change_nothing(
    data: st.DataObject, text: str, skip: AfterMatch, within: int | None, rising: bool
) -> None:
    values = st.tuples(
        st.sampled_from(["k", "l", None]), st.sampled_from("abc"), st.one_of(st.none(), st.integers(0, 5)),
        st.sampled_from([0, 0, 5, 10, 30_000]),
    )  # fmt: skip
    drawn = data.draw(st.lists(values, max_size=25))
    times = [sum(step for *_, step in drawn[: at + 1]) for at in range(len(drawn))]
    rows: list[Row] = [(*row[:3], time) for row, time in zip(drawn, times, strict=True)]
    cuts = data.draw(st.lists(st.integers(1, max(len(rows) - 1, 1)), max_size=5)) if len(rows) > 1 else []
    # Rows of one time come together: those behind the watermark would be late.
    cuts = [each for each in cuts if rows[each - 1][3] < rows[each][3]]
    references, definitions = RISING if rising else (None, None)
    measures = (read("a", 2), read("b", 2, offset=1), read("*", 3, type=timestamp(3)))
    whole, parts = (
        operator(text, skip, within, references=references, definitions=definitions, measures=measures)
        for _ in range(2)
    )
    context = FakeContext(parts)
    try:
        expected = matched(whole, rows)
    except JobError:
        with pytest.raises(JobError, match="cannot SKIP TO"):
            matched(parts, rows, cuts)
        return
    assert sorted(matched(parts, rows, cuts, context), key=str) == sorted(expected, key=str)
    assert context.state(WAITING).frame.is_empty()
    if within is not None:
        assert context.state(BEGUN).frame.is_empty()
        assert context.state(TIMEOUTS).frame.is_empty()


def test_rows_are_kept_from_the_first_match_that_has_begun() -> None:
    match = operator("a b* c")
    context = FakeContext(match)
    rows = of_letters("abbcxxabxabb")
    frame = rows_of(match, 0, [(*row[:3], row[3] * 1000) for row in rows], keys=[0])
    assert run(match, context, frame, watermark=1_000).select("m0", "m1").rows() == [(0, 3)]
    assert context.state(BEGUN).frame["v"].to_list() == [9, 10, 11]


def test_a_match_is_given_when_an_earlier_one_has_run_out_of_time() -> None:
    # From the first row on c is waited for; the match of the second one waits for it.
    match = operator(
        "a b*? c",
        AfterMatch(skip="TO NEXT ROW"),
        100,
        references=(read("b", 1, type=STRING), read("c", 2)),
        definitions=(
            Definition(variable="b", condition=compared("=", 0, Literal(value="b", type=STRING))),
            Definition(variable="c", condition=compared(">", 1, Literal(value=2, type=BIGINT))),
        ),
    )
    context = FakeContext(match)
    rows: list[Row] = [("k", "b", 1, 0), ("k", "b", 2, 60), ("k", "b", 3, 90)]
    frame = rows_of(match, 0, [(*row[:3], row[3] * 1000) for row in rows], keys=[0])
    assert run(match, context, frame, watermark=95).select("m0", "m1").rows() == [(1, 3), (2, 3)]


def test_a_match_comes_behind_an_earlier_one_that_it_has_waited_for() -> None:
    # The match of rows 1 and 2 is complete before that of rows 0 to 3, which begins before it.
    match = operator(
        "a b+? c",
        AfterMatch(skip="TO NEXT ROW"),
        references=(read("c", 2), read("a", 2)),
        definitions=(Definition(variable="c", condition=compared(">", 0, InputRef(input_index=1, type=BIGINT))),),
        measures=(read("a", 2), read("c", 2)),
    )
    rows: list[Row] = [("k", "a", 7, 0), ("k", "a", 1, 1), ("k", "b", 0, 2), ("k", "c", 5, 3), ("k", "c", 9, 4)]
    assert matched(match, rows) == [("k", 7, 9), ("k", 1, 5), ("k", 0, 9)]


@pytest.mark.parametrize(("apart", "matches"), [(0, 1), (99, 1), (100, 0), (101, 0)])
def test_a_match_is_shorter_than_its_bound(apart: int, matches: int) -> None:
    rows: list[Row] = [("k", "a", 1, 0), ("k", "b", 2, apart)]
    assert matched(operator("a b", within=100), rows) == [("k", 1, 2)] * matches


def test_late_rows_are_counted() -> None:
    match = operator("a")
    context = FakeContext(match, watermark=20)
    frame = rows_of(match, 0, [("k", "a", 1, 20_000), ("k", "a", 2, 21_000)], keys=[0])
    assert run(match, context, frame, watermark=30).select("m0").rows() == [(2,)]
    assert context.counters[LATE] == 1


def test_restored_rows_go_on() -> None:
    match = operator("a b+ c", within=1_000)
    first, second = FakeContext(match), FakeContext(match)
    rows = of_letters("abb")
    before = rows_of(match, 0, [(*row[:3], row[3] * 1000) for row in rows], keys=[0])
    assert run(match, first, before, watermark=15).is_empty()
    for name in (WAITING, BEGUN):
        match.restore(name, first.state(name).frame, second)
    assert second.state(TIMEOUTS).frame["rk_due"].to_list() == [1_000]
    after = rows_of(match, 0, [("k", "c", 3, 30_000)], keys=[0])
    assert run(match, second, after, watermark=40).select("m0", "m1").rows() == [(0, 3)]


AGGREGATES = [("$SUM$1", 7), ("$AVG$1", 3), ("$MIN$1", 2), ("$MAX$1", 5), ("$COUNT$1", 2)]


@pytest.mark.parametrize(("function", "value"), AGGREGATES, ids=str)
def test_definitions_and_measures_aggregate_alike(function: str, value: int) -> None:
    type_ = BIGINT.not_null() if function == "$COUNT$1" else BIGINT
    aggregate = RowReference(variable="b", function=function, arg_list=(2,), type=type_)
    same = Literal(value=value, type=BIGINT)
    match = operator(
        "a b{2,} c",
        references=(aggregate, read("b", 1, type=STRING), read("c", 1, type=STRING)),
        definitions=(
            Definition(variable="b", condition=compared("=", 1, Literal(value="b", type=STRING))),
            Definition(
                variable="c",
                condition=Call(
                    internal_name="$AND$1",
                    operands=(compared("=", 0, same), compared("=", 2, Literal(value="c", type=STRING))),
                    type=BOOLEAN,
                ),
            ),
        ),
        measures=(aggregate,),
    )
    rows: list[Row] = [("k", "a", 1, 0), ("k", "b", 2, 1), ("k", "b", None, 2), ("k", "b", 5, 3), ("k", "c", 9, 4)]
    assert matched(match, rows) == [("k", value)]


def test_aggregates_of_no_rows() -> None:
    count, total = (
        RowReference(variable="b", function=name, arg_list=(2,), type=type_)
        for name, type_ in (("$COUNT$1", BIGINT.not_null()), ("$SUM$1", BIGINT))
    )
    rows = RowReference(variable="*", function="$COUNT$1", arg_list=(), type=BIGINT.not_null())
    match = operator("a b*? c", measures=(count, total, rows))
    assert matched(match, of_letters("acabc")) == [("k", 0, None, 2), ("k", 1, 3, 3)]


def test_keys_of_one_hash_are_looked_at_apart() -> None:
    match = operator("a b")
    rows = [("k", "a", 1, 1_000), ("l", "b", 2, 2_000), ("l", "a", 3, 3_000), ("k", "b", 4, 4_000)]
    frame = rows_of(match, 0, rows, keys=[0]).with_columns(pl.lit(7, pl.Int64).alias("rk_hash"))
    assert run(match, FakeContext(match), frame, watermark=DRAINED).select("k", "m0", "m1").rows() == [("k", 1, 4)]
