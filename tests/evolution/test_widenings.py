"""State goes on where a column's type only becomes wider: verdicts of all types in all roles, and rows after a cut."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Each type and each role once or more."""
    offsets = [[role for role in ROLES if role.fits(pair)] for pair in WIDER]
    cases = [(pair, roles[at * 7 % len(roles)]) for at, (pair, roles) in enumerate(zip(WIDER, offsets, strict=True))]
    missing = [role for role in ROLES if role not in {each for _, each in cases}]
    cases += [(next(pair for pair in WIDER[at % 15 :] if role.fits(pair)), role) for at, role in enumerate(missing)]
    run(spark, tmp_path, cases)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("at", range(0, len(CASES), AT_ONCE))
def test_rows_of_every_type_and_role_are_those_of_a_fresh_run(spark: SparkSession, tmp_path: Path, at: int) -> None:
    run(spark, tmp_path, CASES[at : at + AT_ONCE])


def run(spark: SparkSession, folder: Path, cases: Sequence[Case]) -> None:
    """Run the old queries up to a savepoint and the new ones from it, and the new ones alone."""
    pairs = list(dict.fromkeys(pair for pair, _ in cases))
    texts = {new: text(cases, pairs, new=new) for new in (False, True)}
    upgraded, fresh = (Pipeline(spark, folder / name, tables="") for name in ("upgraded", "fresh"))
    old = upgraded.plan(script(pairs, new=False, folder=str(upgraded.folder)) + texts[False])
    new = upgraded.plan(script(pairs, new=True, folder=str(upgraded.folder)) + texts[True], old)
    alone = fresh.plan(script(pairs, new=True, folder=str(fresh.folder)) + texts[True])
    assert new.comparison is not None
    assert all(each.goes_on for each in new.comparison.judgements), new.comparison
    every = rows(pairs, 14)
    for each in (upgraded, fresh):
        each.put({table: of[:8] for table, of in every.items()})
    upgraded.run(old, target=folder / "old")
    first = fresh.run(alone, drains=False)
    for each in (upgraded, fresh):
        each.put({table: of[8:] for table, of in every.items()})
    found, wanted = upgraded.run(new, savepoint=folder / "old"), less(fresh.run(alone), first)
    wrong = [
        f"{title(case)}: {found[f's{at}']} for {wanted[f's{at}']}"
        for at, case in enumerate(cases)
        if found[f"s{at}"] != wanted[f"s{at}"]
    ]
    assert not wrong, "\n".join(wrong)
    assert all(wanted[f"s{at}"] for at in range(len(cases))), "what changes nothing tells nothing"


def text(cases: Sequence[Case], pairs: Sequence[Pair], *, new: bool) -> str:
    """A statement set of the queries, with sinks."""
    sinks = "".join(
        f"CREATE TABLE s{at} ({columns(*case, new=new)}) WITH ('connector' = 'print');\n"
        for at, case in enumerate(cases)
    )
    places = [pairs.index(pair) for pair, _ in cases]
    queries = [role.query.format(t=f"t{at}", r=f"r{at}") for at, (_, role) in zip(places, cases, strict=True)]
    return sinks + both(*(f"s{at} {query}" for at, query in enumerate(queries)))
