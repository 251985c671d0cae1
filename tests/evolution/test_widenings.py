"""State goes on where a column's type only becomes wider: verdicts of all types in all roles, and rows after a cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plans.compatibility.compare import Fate
from tests.evolution.matrix import both
from tests.evolution.running import Pipeline, less
from tests.evolution.widenings import (
    NARROWER,
    ROLES,
    WIDER,
    Pair,
    Role,
    columns,
    compared,
    expected,
    rows,
    script,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Case = tuple[Pair, Role]
CASES = [(pair, role) for pair in WIDER for role in ROLES if role.fits(pair)]
SOME = CASES[:: len(CASES) // 90]
AT_ONCE = 30
"""Cases that run in one pipeline."""


def title(case: Case) -> str:
    return f"{case[0].title}, {case[1].name}"


def check(case: Case) -> None:
    pair, role = case
    found = compared(pair, role)
    assert found.verdict == expected(pair, role), found.judgements
    assert all(each.goes_on for each in found.judgements)


@pytest.mark.parametrize("case", SOME, ids=title)
def test_state_goes_on_in_wider_types(case: Case) -> None:
    check(case)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=title)
def test_state_goes_on_in_every_wider_type_and_role(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("types", NARROWER, ids=" -> ".join)
def test_state_does_not_go_on_in_types_that_do_not_hold_it(types: tuple[str, str]) -> None:
    """As a column, for all types may be one; that state would mean something else, and the reason shows the types."""
    pair = Pair(*types, ())
    found = compared(pair, next(each for each in ROLES if each.name == "a column of joined rows"))
    assert found.verdict in ("partial", "incompatible")
    kept = [each for each in found.judgements if each.goes_on and each.state != "position"]
    assert not kept, kept
    empty = [each for each in found.judgements if each.fate is Fate.EMPTY]
    assert empty


@pytest.mark.spark
def test_rows_are_those_of_a_fresh_run(spark: SparkSession, tmp_path: Path) -> None:
    """A sixth of the types at once: as columns of joined rows, as keys of a join and of groups, and as arguments."""
    every = range(0, len(WIDER), 6)
    flat, hashed = (
        [at for at in every if next(role for role in ROLES if role.name == name).fits(WIDER[at])]
        for name in ("argument of MIN and MAX", "key of GROUP BY")
    )
    shown = ", ".join(f"t.x{at}, r.x{at} AS y{at}" for at in every)
    equal = " AND ".join(f"t.x{at} IS NOT DISTINCT FROM r.x{at}" for at in hashed)
    keys = ", ".join(f"x{at}" for at in hashed)
    kept = [f"FIRST_VALUE(x{at})" for at in every] + [f"MAX(x{at})" for at in flat]
    # Each of these is a state of its own, which takes its time.
    kept += [f"COUNT(DISTINCT x{at})" for at in every[::2]]
    run(
        spark,
        tmp_path,
        WIDER,
        [
            f"SELECT t.id, {shown} FROM t LEFT JOIN r ON t.k = r.k",
            f"SELECT t.id, r.w FROM t JOIN r ON {equal}",
            f"SELECT {keys}, COUNT(*) FROM t GROUP BY {keys}",
            f"SELECT k, {', '.join(kept)} FROM t GROUP BY k",
        ],
    )


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("at", range(0, len(CASES), AT_ONCE))
def test_rows_of_every_type_and_role_are_those_of_a_fresh_run(spark: SparkSession, tmp_path: Path, at: int) -> None:
    cases = CASES[at : at + AT_ONCE]
    pairs = list(dict.fromkeys(pair for pair, _ in cases))
    places = [pairs.index(pair) for pair, _ in cases]
    queries = [role.query.format(t=f"t{place}", r=f"r{place}") for place, (_, role) in zip(places, cases, strict=True)]
    run(spark, tmp_path, pairs, queries)


def run(spark: SparkSession, folder: Path, pairs: Sequence[Pair], queries: Sequence[str]) -> None:
    """Run old queries up to a savepoint and new ones from it, and the new ones alone."""
    run_tables(spark, folder, lambda place, new: script(pairs, new=new, folder=str(place)), queries, rows(pairs, 14))


def run_tables(
    spark: SparkSession,
    folder: Path,
    tables: Callable[[Path, bool], str],
    queries: Sequence[str],
    every: Mapping[str, Sequence[Mapping[str, object]]],
) -> None:
    """The same over any tables: their DDL by the folder of their files, as it was and as it is; all their rows."""
    upgraded, fresh = (Pipeline(spark, folder / name, tables="") for name in ("upgraded", "fresh"))
    before = upgraded.plan(text(tables(upgraded.folder, False), queries))
    new = upgraded.plan(text(tables(upgraded.folder, True), queries), before)
    alone = fresh.plan(text(tables(fresh.folder, True), queries))
    assert new.comparison is not None
    assert all(each.goes_on for each in new.comparison.judgements), new.comparison
    for each in (upgraded, fresh):
        each.put({table: of[:8] for table, of in every.items()})
    upgraded.run(before, target=folder / "old")
    first = fresh.run(alone, drains=False)
    for each in (upgraded, fresh):
        each.put({table: of[8:] for table, of in every.items()})
    found, wanted = upgraded.run(new, savepoint=folder / "old"), less(fresh.run(alone), first)
    wrong = [
        f"{query}: {found[f's{at}']} for {wanted[f's{at}']}"
        for at, query in enumerate(queries)
        if found[f"s{at}"] != wanted[f"s{at}"]
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(map(bool, wanted.values())) > len(queries) / 2, "what changes nothing tells little"


def text(tables: str, queries: Sequence[str]) -> str:
    """A statement set of the queries, with all tables."""
    sinks = "".join(
        f"CREATE TABLE s{at} ({columns(tables, query)}) WITH ('connector' = 'print');\n"
        for at, query in enumerate(queries)
    )
    return tables + sinks + both(*(f"s{at} {query}" for at, query in enumerate(queries)))
