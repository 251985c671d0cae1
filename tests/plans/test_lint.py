"""Findings about plans: errors of all nodes at once, then what looks odd."""

import json
from typing import Any

import pytest

from execnodes.core.expressions import InputRef
from execnodes.core.graph import ExecGraph
from execnodes.core.node import StateMetadata
from execnodes.core.tables import TableReference
from execnodes.stream.calc import Calc
from execnodes.stream.table_source_scan import ScanTableSource, TableSourceScan
from plans.evolution.upgrade import upgrade
from plans.format.codec import encode
from plans.format.lint import Finding, lint
from rekindle.api.table_environment import TableEnvironment
from tests.plans.nodes import ORDERS, ROW, orders_table
from tests.restore.program import FIXTURES

ZONE = {"table.local-time-zone": "UTC"}


def graph(**calc: Any) -> ExecGraph:
    table = TableReference(identifier=ORDERS, resolved_table=orders_table())
    projection = tuple(InputRef(input_index=at, type=field.type) for at, field in enumerate(ROW.fields))
    node = Calc(id=2, configuration=ZONE, projection=projection, output_type=ROW, description="Calc")
    return ExecGraph.of(
        (
            TableSourceScan(
                id=1, scan_table_source=ScanTableSource(table=table), output_type=ROW, description="Scan"
            ),
            node.replaced(**calc),
        ),
        {2: (1,)},
    )  # fmt: skip


UNUSED = Finding(
    "warning",
    "p.json, node 2 (stream-exec-calc_1)",
    "nothing reads its rows, and it writes to no table",
    "Remove the node, or add the edge that is missing.",
)


def findings(text: str) -> list[Finding]:
    return lint(text, source="p.json")


def test_a_node_nobody_reads() -> None:
    assert findings(encode(graph())) == [UNUSED]


def test_a_ttl_without_state() -> None:
    first, *rest = findings(encode(graph(state=(StateMetadata(index=0, name="s", ttl="1 d"),))))
    assert first.message == "it keeps no state, so the TTL of s has no effect"
    assert rest == [UNUSED]


def test_an_option_that_is_not_stored() -> None:
    first, *rest = findings(encode(graph(configuration={})))
    assert first.message.startswith("its configuration lacks table.local-time-zone")
    assert rest == [UNUSED]


def test_a_secret_in_clear_text() -> None:
    document = json.loads(encode(graph()))
    document["nodes"][0]["scanTableSource"]["table"]["resolvedTable"]["options"]["password"] = "hunter2"
    first, *rest = findings(json.dumps(document))
    assert (first.severity, "'password'" in first.message, "hunter2" in str(first)) == ("error", True, False)
    assert rest == [UNUSED]


def test_all_nodes_tell_their_errors() -> None:
    document = json.loads(encode(graph()))
    document["nodes"][0]["id"] = "1"
    document["nodes"][1]["projections"] = []
    found = findings(json.dumps(document))
    assert [each.severity for each in found] == ["error", "error"]
    assert "property id" in found[0].message
    assert "property projections is unknown" in found[1].message


def test_errors_of_the_graph() -> None:
    document = json.loads(encode(graph()))
    document["edges"][0]["source"] = 7
    (found,) = findings(json.dumps(document))
    assert (found.severity, found.where) == ("error", "p.json, edge 7 -> 2")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"engineVersion": "9.9"}'])
def test_what_is_no_plan(text: str) -> None:
    (found,) = findings(text)
    assert found.severity == "error"
    assert "p.json" in found.where
    assert str(found).startswith("error: ")


def test_an_option_under_its_old_name() -> None:
    plan = TableEnvironment.create().compile_plan_sql(
        "SELECT * FROM (VALUES (1)) AS t (a)"
    )  # no watermark: nothing to say
    assert not [each for each in findings(plan.as_json_string()) if "is called" in each.message]
    old = (FIXTURES / "stream-exec-watermark-assigner_1" / "row" / "plan.json").read_text(encoding="utf-8")
    found = [each for each in findings(old) if "is called" in each.message]
    assert {each.message for each in found} == {
        "option table.exec.watermark.granularity is called table.exec.lateness.granularity now"
    }
    assert all("rekindle upgrade" in each.hint for each in found)
    assert not [each for each in findings(upgrade(old).text) if "is called" in each.message]
