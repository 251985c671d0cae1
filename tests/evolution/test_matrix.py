"""Every change of the matrix has the verdict and the fates that it says."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from plans.compatibility.compare import Comparison, Fate, compare
from plans.compatibility.plan_meanings import POSITION, meanings
from plans.evolution import match
from plans.evolution.evolve import NO_TTL
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.statements.evolution import EvolutionError
from tests.evolution.compiling import compiled, fates
from tests.evolution.matrix import CHANGES, Change, both


def changed(change: Change) -> tuple[CompiledPlan, CompiledPlan | None, Comparison]:
    """Old plan, new plan if there is one, and what becomes of the state."""
    old = compiled(change.old)
    try:
        new = compiled(change.new, old)
    except EvolutionError as error:
        return old, None, error.comparison
    assert new.comparison is not None
    return old, new, new.comparison


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.name)
def test_verdict_and_fates(change: Change) -> None:
    old, new, comparison = changed(change)
    assert comparison.verdict == change.verdict
    assert fates(comparison) == change.fates
    assert [each for each in comparison.judgements if change.reason in each.reason], comparison.judgements
    assert (new is None) == (change.verdict == "incompatible")
    assert bool(comparison.losses) == (change.verdict == "partial") or change.verdict in ("incompatible", "unknown")
    if new is not None:
        assert compare(meanings(old.graph), meanings(new.graph), compiling=True).judgements == comparison.judgements


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.name)
def test_ids_and_bytes(change: Change) -> None:
    """Uids of state mean what they meant, no id is given anew, and the same statement gives the same bytes."""
    old, new, _ = changed(change)
    if new is None:
        return
    kinds = {node.id: node.key.name for node in old.graph.nodes}
    for node in new.graph.nodes:
        assert kinds.get(node.id, node.key.name) == node.key.name
        assert node.id in kinds or node.id > max(kinds)
    dropped = set(kinds) - set(new.graph.by_id)
    largest = max(*kinds, *new.graph.by_id)
    assert new.graph.last_node_id == (largest if largest in dropped else None)
    assert compiled(change.new, old).as_json_string() == new.as_json_string()
    again = compiled(change.new, new)
    assert again.as_json_string() == new.as_json_string(), "what has evolved once does so no further"


def test_there_are_enough_of_them_and_of_each_kind() -> None:
    assert len(CHANGES) >= 40
    assert len({each.name for each in CHANGES}) == len(CHANGES)
    assert set(Counter(each.verdict for each in CHANGES)) == {"full", "partial", "incompatible", "unknown"}
    found = {fate for each in CHANGES for fate in each.fates}
    assert {each.partition(" ")[0] for each in found} == {str(each) for each in Fate}


def test_no_id_is_given_twice_in_a_chain_of_evolutions() -> None:
    """The largest ids go with their nodes, and do not come back."""
    one, other = "o1 SELECT k, SUM(v) FROM t GROUP BY k", "o2 SELECT k, {}(v) FROM r GROUP BY k"
    first = compiled(both(one, other.format("SUM")))
    second = compiled(both(one), first)
    third = compiled(both(one, other.format("MAX")), second)
    assert json.loads(second.as_json_string())["lastNodeId"] == max(first.graph.by_id)
    assert max(second.graph.by_id) < min(set(third.graph.by_id) - set(second.graph.by_id))
    assert not set(third.graph.by_id) & (set(first.graph.by_id) - set(second.graph.by_id))


def test_operators_that_mean_the_same_are_told_apart_by_their_order() -> None:
    """Two states with the same content, and one of them is left: the one with the lower id."""
    one = "INSERT INTO o1 SELECT k, SUM(v) FROM t GROUP BY k;"
    other = one.replace("o1", "o2")
    apart = "SET 'table.optimizer.reuse-sub-plan-enabled' = 'false';"
    old = compiled(f"{apart} EXECUTE STATEMENT SET BEGIN {one} {other} END")
    new = compiled(f"{apart} {other}", old)
    kept = [each for each in old.graph.nodes if each.uids()]
    assert [each.uids() for each in new.graph.nodes if each.uids()] == [kept[0].uids()]


@pytest.mark.parametrize("form", ["<id>_<operator>", "<id>_<type>-<version>_<operator>", "job-<id>-<operator>"])
def test_uids_of_any_form_stay(form: str) -> None:
    query = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
    old = compiled(f"SET 'table.exec.uid.format' = '{form}'; {query}")
    new = compiled(query.replace("AS s", "AS s, COUNT(*) AS c"), old)
    assert {each.uid for each in meanings(old.graph)} == {each.uid for each in meanings(new.graph)}


@pytest.mark.parametrize(
    ("old", "new", "notes"),
    [
        ("o1 SELECT k, v FROM t", "o1 SELECT k, v FROM t", []),
        ("o1 SELECT k, v FROM t", "o1 SELECT k, v FROM t WHERE v > 1", ["sink o1 holds rows of the old query"]),
        ("o1 SELECT k, v FROM t", "o1 SELECT k, w FROM t", ["sink o1 holds rows of the old query"]),
        ("o1 SELECT k, v FROM t", "o2 SELECT k, v FROM t", ["sink o2 is new", "sink o1 is no longer written"]),
    ],
)
def test_what_sinks_hold_is_noted(old: str, new: str, notes: list[str]) -> None:
    comparison = compiled(f"INSERT INTO {new}", compiled(f"INSERT INTO {old}")).comparison
    assert comparison is not None
    assert len(comparison.notes) == len(notes)
    assert all(said.startswith(note) for said, note in zip(comparison.notes, notes, strict=True))
    assert comparison.verdict == "full"


def test_positions_of_the_same_tables_stay() -> None:
    old = compiled("SELECT k, v FROM r UNION ALL SELECT k, v FROM x")
    new = compiled("SELECT k, v FROM x UNION ALL SELECT k, v FROM r", old)
    sources = [{each.uid: each.parts["source"] for each in meanings(plan.graph)} for plan in (old, new)]
    assert sources[0] == sources[1]
    assert all(each.name == POSITION for each in meanings(new.graph))


@pytest.mark.parametrize(("before", "after"), [("", "DESC"), ("DESC", "")])
def test_first_and_last_rows_to_arrive_are_told_apart(before: str, after: str) -> None:
    """Whole last rows have all that keys of first rows need, so that nothing else keeps them apart."""
    arriving = "(SELECT *, PROCTIME() AS p FROM t)"
    numbered = f"(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p {{}}) AS n FROM {arriving})"
    query = f"SELECT k, v FROM {numbered} WHERE n = 1"
    comparison = compiled(query.format(after), compiled(query.format(before))).comparison
    assert comparison is not None
    assert fates(comparison) == ("keep source", "empty deduplicate", "drop deduplicate")


@pytest.mark.parametrize(
    ("before", "after", "ttl"), [("", "2 h", "2 h"), ("1 h", "2 h", "2 h"), ("1 h", "", "1 h"), ("", "", None)]
)
def test_a_ttl_of_the_new_query_wins(before: str, after: str, ttl: str | None) -> None:
    def query(hint: str) -> str:
        written = f"/*+ STATE_TTL('t' = '{hint}') */" if hint else ""
        return f"SELECT {written} k, SUM(v) AS s FROM t GROUP BY k"

    new = compiled(query(after), compiled(query(before)))
    assert {each.ttl for node in new.graph.nodes for each in node.state if each.ttl != NO_TTL} == {ttl} - {None}


def test_windows_do_not_go_on_under_another_watermark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes are not paired then; where their uids are the same anyhow, the comparison sees it."""
    monkeypatch.setattr(match, "_timed", lambda whole, less: False)
    change = next(each for each in CHANGES if each.name == "unions: an input added below windows")
    _, _, comparison = changed(change)
    assert comparison.verdict == "incompatible"


def test_of_two_that_mean_the_same_one_goes_on() -> None:
    """They differ in their TTLs, so that they are two."""
    summed = "SELECT /*+ STATE_TTL('t' = '{}') */ k, SUM(v) FROM t GROUP BY k"
    old = compiled(both(f"o1 {summed.format('1 h')}"))
    new = compiled(both(f"o1 {summed.format('1 h')}", f"o2 {summed.format('2 h')}"), old)
    assert new.comparison is not None
    assert sorted(fates(new.comparison)) == [
        "empty global-group-aggregate",
        "keep global-group-aggregate",
        "keep source",
    ]
