"""Every program of the oracle compiles or is refused; stateful nodes and what sinks get are those of Flink's plan."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import RekindleError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.registry import keys
from planner import ddl
from planner import statements as s
from planner.bind import build_insert
from planner.catalog.catalogs import Catalog
from planner.lower import lower
from planner.optimize import optimize
from planner.parse import parse

PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
STATEFUL = ("group-aggregate", "window-aggregate", "join", "deduplicate", "changelog-normalize")
OTHER_NODES = {
    "group-aggregate/mini_batch_split_distinct": "the split of distinct aggregates has no meaning here",
    "set/except_all": "equal rows are numbered and the numbers joined; Flink counts them and repeats rows",
    "set/intersect_all": "equal rows are numbered and the numbers joined; Flink counts them and repeats rows",
    "temporal-join/dedup_view": "the join takes all rows, where a deduplication gives the newest once a micro-batch",
    "unnest/static_array": "a constant array is unnested for each row, without a join",
}
OTHER_CHANGES = {
    "group-aggregate/mini_batch_split_distinct": "a second aggregation would also delete",
    "nexmark/q9": "Flink leaves out -U of a Top-1 by two columns (a defect of 2.3)",
    "top-n/top1_le_one": "a Top-1 whose row is replaced updates; it never deletes",
    "top-n/top1_over_join": "Flink leaves out -U of a Top-1 by two columns (a defect of 2.3)",
    "top-n/top1_rowtime_then_value": "Flink leaves out -U of a Top-1 by two columns (a defect of 2.3)",
    "top-n/top1_two_order_columns": "Flink leaves out -U of a Top-1 by two columns (a defect of 2.3)",
    "set/except_all": "a join with a changing side also deletes",
    "set/intersect_all": "a join with a changing side also deletes",
    "join/left_two_aggregates_upsert": "joins ask for -U always",
}


def _names() -> list[str]:
    return [str(path.parent.relative_to(PROGRAMS)) for path in sorted(PROGRAMS.glob("*/*/program.sql"))]


def compile_program(folder: Path) -> list[ExecGraph]:
    """The graph of each INSERT or statement set; the session's options hold, with one aggregation phase as default."""
    catalog, configuration = Catalog(), Configuration()
    configuration.put("table.optimizer.agg-phase-strategy", "ONE_PHASE")
    graphs = []
    for statement in parse((folder / "program.sql").read_text().replace("${dir}", str(folder))):
        inserts = (statement,) if isinstance(statement, s.Insert) else getattr(statement, "inserts", ())
        if isinstance(statement, s.SetOption):
            configuration.put(statement.key or "", statement.value or "")
        elif inserts:
            sinks = [build_insert(each, catalog, configuration) for each in inserts]
            graphs.append(lower(optimize(sinks, configuration), configuration))
        else:
            ddl.execute(statement, catalog, configuration)
    return graphs


def _flink(folder: Path) -> list[dict[str, Any]]:
    nodes = json.loads((folder / "flink-plan.json").read_text())["nodes"]
    assert isinstance(nodes, list)
    return nodes


def _kind(node_type: str) -> str:
    """``group-aggregate`` of ``stream-exec-global-group-aggregate_1``; its local half counts for nothing."""
    kind = node_type.removeprefix("stream-exec-").rsplit("_", 1)[0]
    return kind.removeprefix("global-").replace("group-window-aggregate", "window-aggregate")


def _can_run(folder: Path) -> bool:
    """Whether there are nodes for all that Flink plans."""
    plan = folder / "flink-plan.json"
    known = {key.name.removeprefix("stream-exec-") for key in keys()} | {
        "mini-batch-assigner",
        "local-window-aggregate",
    }
    return plan.exists() and all(_kind(node["type"]) in known for node in _flink(folder))


@pytest.mark.parametrize("name", _names())
def test_program(name: str) -> None:
    folder = PROGRAMS / name
    refused = folder / "refused.txt"
    flink_refuses = refused.exists() and not refused.read_text().startswith("stage: run")
    graphs, failure = None, None
    try:
        graphs = compile_program(folder)
    except RekindleError as error:
        failure = error
    if graphs is None or failure is not None:
        assert flink_refuses or not _can_run(folder) or "unknown " in str(failure), failure
        return
    assert not flink_refuses, refused.read_text()
    if not (folder / "flink-plan.json").exists():
        return  # Flink's rows alone are known.
    mine, flinks = graphs[-1].nodes, _flink(folder)
    if name not in OTHER_NODES:
        kinds = Counter(_kind(str(node.key)) for node in mine)
        theirs = Counter(_kind(node["type"]) for node in flinks)
        assert {kind: kinds[kind] for kind in STATEFUL} == {kind: theirs[kind] for kind in STATEFUL}
    if name not in OTHER_CHANGES:
        sinks = [node for node in mine if _kind(str(node.key)) == "sink"]
        modes = [{kind.name for kind in node.changelog_mode} for node in sinks]
        assert modes == [set(node["inputChangelogMode"]) for node in flinks if _kind(node["type"]) == "sink"]
        materialized = [node.model_dump()["require_upsert_materialize"] for node in sinks]
        wanted = [node.get("requireUpsertMaterialize", False) for node in flinks if _kind(node["type"]) == "sink"]
        assert materialized == wanted
