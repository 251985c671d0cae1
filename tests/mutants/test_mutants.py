"""Mutants can be made, and what hunts them finds tests near them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.mutant import HOUSES, ROOT, find_problems, load_mutants
from tests.mutants.nearness import DIRECT, HOUSE, NAMED, REST, rank_tests
from tests.mutants.results import Result, is_caught, read_results, write_results
from tests.mutants.tree import Tree

MUTANTS = load_mutants()


def test_every_mutant_can_be_made() -> None:
    assert list(find_problems(MUTANTS)) == []


def test_mutants_are_spread_over_all_houses() -> None:
    counts = Counter(each.house for each in MUTANTS)
    assert sum(counts.values()) >= 72
    assert {house: counts[house] for house in HOUSES if counts[house] < 6} == {}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"old": "no such text"}, "occurs 0 times"),
        ({"old": "e"}, "not once"),
        ({"new": "return ("}, "does not parse"),
        ({"file": "planner/none.py"}, "does not exist"),
        ({"program": "tests/conformance/programs/none"}, "program tests/conformance/programs/none does not exist"),
    ],
)
def test_what_cannot_be_made_is_named(change: dict[str, Any], problem: str) -> None:
    (found,) = find_problems((replace(MUTANTS[0], **change),))
    assert problem in found


def test_the_same_meaning_is_not_a_mutant() -> None:
    same = replace(MUTANTS[0], new=f"({MUTANTS[0].old.partition(' = ')[2]})", old=MUTANTS[0].old.partition(" = ")[2])
    assert list(find_problems((same,))) == [f"{same.id}: the new text means the same as the old one"]


def test_ids_are_unique() -> None:
    assert any("occurs 2 times" in each for each in find_problems((MUTANTS[0], MUTANTS[0])))


def test_tests_named_after_a_file_are_nearest() -> None:
    ranks = rank_tests(ROOT, "execnodes/stream/rank/v1_kernel.py")
    assert ranks["tests/kernels/test_rank.py"] == NAMED
    assert ranks["tests/net/test_operators.py"] <= HOUSE
    assert ranks["tests/cli/test_words.py"] == REST
    assert next(iter(ranks)) == "tests/kernels/test_rank.py"
    assert list(ranks.values()) == sorted(ranks.values())


def test_tests_that_import_a_file_are_near() -> None:
    ranks = rank_tests(ROOT, "rekindle/engine/log.py")
    assert ranks["tests/engine/test_micro_batches.py"] <= DIRECT
    assert not any(each.startswith("tests/mutants/") for each in ranks)


def test_a_mistake_is_made_and_taken_back(tmp_path: Path) -> None:
    mutant = MUTANTS[0]
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    path = tmp_path / mutant.file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    tree = Tree(tmp_path)
    with tree.mutated(mutant):
        assert path.read_text(encoding="utf-8") == mutant.apply(text)
        with tree.restored(mutant):
            assert path.read_text(encoding="utf-8") == text
        assert path.read_text(encoding="utf-8") == mutant.apply(text)
    assert path.read_text(encoding="utf-8") == text


def test_results_stay_for_mutants_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "caught.json"
    first, second, *_ = MUTANTS
    results = {first.id: Result(first.digest, "tests/a.py::test_b", 3, "near"), "gone": Result("", "", 1, "all")}
    write_results(results, MUTANTS, path)
    found = read_results(path)
    assert found == {first.id: results[first.id]}
    assert is_caught(first, found)
    assert not is_caught(replace(first, new="pass"), found)
    assert not is_caught(second, found)
