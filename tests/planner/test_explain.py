"""EXPLAIN output of small plans."""

from __future__ import annotations

import json

from planner.explain import explain
from planner.logical import JoinType
from tests.planner.hand_built import aggregate, call, compiled, count, join, lit, project, ref, scan, sink, where

T = scan()
KEPT = project(where(T, call(">", ref(T, 1), lit(3))), ref(T, 0), call("+", ref(T, 1), lit(1), type=ref(T, 1).type))


def test_a_tree_for_each_sink_and_shared_parts_once() -> None:
    text = explain(compiled(sink(T), sink(aggregate(T, (0,), count()), "s2"), **{"table_exec_state_ttl": "1 d"}))
    assert text.splitlines() == [
        "== Optimized Execution Plan ==",
        "Sink(table=[c.d.s], fields=[c0, c1, c2, c3])  {id=2, type=stream-exec-sink_1, changelogMode=[I]}",
        "+- TableSourceScan(table=[[c, d, t]], fields=[k, v, w, ts])(reuse_id=[1])  "
        "{id=1, type=stream-exec-table-source-scan_1, changelogMode=[I]}",
        "",
        "Sink(table=[c.d.s2], fields=[c0, c1])  {id=7, type=stream-exec-sink_1, changelogMode=[I,UB,UA]}",
        "+- GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])  "
        "{id=6, type=stream-exec-global-group-aggregate_1, changelogMode=[I,UB,UA], "
        "uid=6_global-group-aggregate, ttl(globalGroupAggregateState)=1 d}",
        "   +- Exchange(distribution=[hash[k]])  {id=5, type=stream-exec-exchange_1, changelogMode=[I]}",
        "      +- LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])  "
        "{id=4, type=stream-exec-local-group-aggregate_1, changelogMode=[I]}",
        "         +- Calc(select=[k])  {id=3, type=stream-exec-calc_1, changelogMode=[I]}",
        "            +- Reused(reference_id=[1])",
    ]


def test_descriptions_read_like_flinks() -> None:
    lines = explain(compiled(sink(KEPT))).splitlines()
    assert lines[2].startswith("+- Calc(select=[k AS p0, (v + 1) AS p1], where=[(v > 3)])  {id=2,")


def test_two_inputs_are_drawn_as_branches() -> None:
    right = ref(T, 0).model_copy(update={"input_index": 4})
    lines = explain(compiled(sink(join(T, scan("u"), JoinType.FULL, call("=", ref(T, 0), right))))).splitlines()
    assert [line[: line.index("(")] for line in lines[1:]] == [
        "Sink",
        "+- Join",
        "   :- Exchange",
        "   :  +- TableSourceScan",
        "   +- Exchange",
        "      +- TableSourceScan",
    ]


def test_details_add_parts() -> None:
    graph = compiled(sink(aggregate(T, (0,), count())))
    text = explain(graph, {"JSON_EXECUTION_PLAN", "PLAN_ADVICE"})
    assert "advice[1]: node 4 (stream-exec-global-group-aggregate_1) keeps its state for ever" in text
    plan = json.loads(text[text.index("== Physical Execution Plan ==") :].split("\n", 1)[1])
    assert [node["pact"] for node in plan["nodes"]] == ["Data Source", "Operator", "Operator", "Operator", "Data Sink"]
    assert "No available advice" in explain(compiled(sink(T)), ["PLAN_ADVICE"])
