"""The published JSON Schema is that of the classes, and takes and refuses what reading takes and refuses."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from execnodes.core.expressions import InputRef, Literal
from execnodes.core.graph import ExecGraph
from execnodes.core.registry import keys
from execnodes.core.tables import TableReference
from execnodes.core.types import INT, Field, row
from execnodes.stream.calc import Calc
from execnodes.stream.table_source_scan import ScanTableSource, TableSourceScan
from execnodes.stream.values import Values
from plans.format.codec import encode
from plans.format.schema import path, published, render
from tests.plans.nodes import ORDERS, ROW, orders_table

ONE = row(Field("a", INT)).not_null()


def graph() -> ExecGraph:
    table = TableReference(identifier=ORDERS, resolved_table=orders_table())
    return ExecGraph.of(
        (
            Values(id=1, tuples=((Literal(value=1, type=INT),),), output_type=ONE, description="Values"),
            Calc(id=2, projection=(InputRef(input_index=0, type=INT),), output_type=ONE, description="Calc"),
            TableSourceScan(
                id=3, scan_table_source=ScanTableSource(table=table), output_type=ROW, description="Scan"
            ),
        ),
        {2: (1,)},
    )  # fmt: skip


def test_the_published_schema_is_current() -> None:
    assert path().read_text(encoding="utf-8") == render(), "run `make goldens` and review the difference"


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(published())


def test_every_node_version_is_in_it() -> None:
    assert published()["$defs"]["Node"]["properties"]["type"]["enum"] == [str(key) for key in keys()]


def test_plans_follow_it() -> None:
    Draft202012Validator(published()).validate(json.loads(encode(graph())))


@pytest.mark.parametrize(
    ("at", "name", "value"),
    [
        (0, "id", "1"),
        (0, "type", "stream-exec-values_2"),
        (0, "outputType", 7),
        (1, "changelogMode", "I,X"),
        (1, "unknown", 1),
        (1, "projection", [{"kind": "INPUT_REF", "inputIndex": 0}]),
        (2, "scanTableSource", {"table": {"identifier": ["a", "b"]}}),
    ],
)
def test_bad_plans_do_not(at: int, name: str, value: Any) -> None:
    document = json.loads(encode(graph()))
    document["nodes"][at][name] = value
    assert not Draft202012Validator(published()).is_valid(document)
