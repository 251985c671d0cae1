"""Writing plans: order of properties, defaults, round trips, what of tables is stored."""

import json
from typing import Any
from typing import Literal as Tag

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.errors import PlanError
from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.tables import TableReference
from execnodes.core.types import BIGINT, INT, STRING
from execnodes.core.version import ENGINE_VERSION
from plans.format.codec import CompileOptions, encode
from plans.format.load import load, read_document, read_node
from tests.plans.nodes import ORDERS, ROW, ProbeCalc, example, orders_table

IDENTIFIER = {"identifier": list(ORDERS)}


def calc(**changes: object) -> ExecGraph:
    node = ProbeCalc(id=1, projection=(), output_type=ROW, description="Calc")
    return ExecGraph.of((node.replaced(**changes),), {})


def reread(text: str) -> tuple[ExecNode, ...]:
    """The nodes of a plan by themselves, whatever stands before them."""
    return tuple(map(read_node, read_document(text).nodes))


def written(graph: ExecGraph, **options: Any) -> dict[str, Any]:
    document = json.loads(encode(graph, CompileOptions(**options)))
    assert isinstance(document, dict)
    return document


def test_a_plan_comes_back_as_it_was() -> None:
    graph = example()
    text = encode(graph)
    assert load(text) == graph
    assert encode(load(text)) == text


def test_the_frame() -> None:
    document = written(example())
    assert list(document) == ["$schema", "engineVersion", "maxParallelism", "nodes", "edges"]
    assert document["engineVersion"] == ENGINE_VERSION
    assert document["edges"][0] == {
        "source": 1, "target": 2, "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED",
    }  # fmt: skip


def test_the_order_of_properties() -> None:
    nodes = written(example())["nodes"]
    assert list(nodes[2]) == [
        "id", "type", "configuration", "grouping", "state", "inputProperties", "outputType", "changelogMode",
        "description",
    ]  # fmt: skip
    assert list(nodes[2]["configuration"]) == ["table.exec.mini-batch.enabled", "table.exec.uid.format"]
    assert list(nodes[1]["aliases"]) == ["a", "z"]
    assert list(nodes[0]["scanTableSource"]["table"]["resolvedTable"]["options"]) == ["connector", "path"]


def test_text_is_utf8_with_two_spaces_and_a_line_feed() -> None:
    text = encode(example())
    assert "name ü" in text
    assert text.startswith('{\n  "$schema"')
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize(
    ("changes", "there"),
    [
        ({"condition": None}, {"condition": None}),
        ({"exact": False}, {"exact": None}),
        ({"exact": True}, {"exact": True}),
        ({"careful": True}, {"careful": True}),
        ({"careful": False}, {"careful": False}),
        ({"limit": 0}, {"limit": 0}),
        ({"bounds": ()}, {"bounds": None}),
        ({"bounds": ((),)}, {"bounds": [[]]}),
        ({"aliases": None}, {"aliases": None}),
        ({"aliases": {}}, {"aliases": {}}),
        ({"projection": ()}, {"projection": []}),
    ],
)
def test_only_empty_defaults_are_left_out(changes: dict[str, object], there: dict[str, object]) -> None:
    graph = calc(**changes)
    (node,) = written(graph)["nodes"]
    assert {name: node.get(name) for name in there} == there
    assert reread(encode(graph)) == graph.nodes


def texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def expressions() -> st.SearchStrategy[Expression]:
    # Functions, because st.builds would pass fields by name and by alias.
    refs = st.integers(0, 9).map(lambda index: InputRef(input_index=index, type=INT))
    of_type = {
        INT: st.integers(-(2**31), 2**31 - 1),
        STRING: texts(),
        BIGINT.not_null(): st.integers(-(2**63), 2**63 - 1),
    }
    literals = st.one_of(*(st.builds(Literal, value=st.none() | each, type=st.just(t)) for t, each in of_type.items()))

    def call(operands: list[Expression]) -> Call:
        return Call(internal_name="$COALESCE$1", operands=tuple(operands), type=INT)

    return st.recursive(refs | literals, lambda inner: st.lists(inner, max_size=3).map(call))


@given(st.lists(expressions(), max_size=3), st.dictionaries(st.text("ab.ü", max_size=4), st.text("xy", max_size=3)))
def test_any_expression_comes_back(projection: list[Expression], aliases: dict[str, str]) -> None:
    graph = calc(projection=tuple(projection), aliases=aliases)
    assert reread(encode(graph)) == graph.nodes


def nested(depth: int) -> Expression:
    expression: Expression = InputRef(input_index=0, type=INT)
    for _ in range(depth):
        expression = Call(internal_name="$+$1", operands=(expression, InputRef(input_index=1, type=INT)), type=INT)
    return expression


def test_long_chains_of_operators_are_stored() -> None:
    graph = calc(projection=(nested(150),))
    assert reread(encode(graph)) == graph.nodes


def test_too_deep_an_expression_is_refused() -> None:
    with pytest.raises(PlanError, match=r"node 1 \(stream-exec-probe-calc_1\): an expression cannot be written"):
        encode(calc(projection=(nested(2000),)))


@pytest.mark.parametrize(
    ("catalog_objects", "temporary", "kept"),
    [
        ("ALL", False, {"schema", "partitionKeys", "comment", "options"}),
        ("SCHEMA", False, {"schema", "partitionKeys"}),
        ("IDENTIFIER", False, None),
        ("ALL", True, None),
        ("SCHEMA", True, None),
    ],
)
def test_what_of_a_table_is_stored(
    catalog_objects: Tag["ALL", "SCHEMA", "IDENTIFIER"], temporary: bool, kept: set[str] | None
) -> None:
    document = written(example(), catalog_objects=catalog_objects, is_temporary=lambda name: temporary)
    table = document["nodes"][0]["scanTableSource"]["table"]
    assert table["identifier"] == list(ORDERS)
    assert kept == (set(table["resolvedTable"]) if "resolvedTable" in table else None)


@pytest.mark.parametrize("catalog_objects", ["ALL", "SCHEMA", "IDENTIFIER"])
def test_an_inline_table_is_stored_in_full(catalog_objects: str) -> None:
    graph = example(source=TableReference(resolved_table=orders_table()))
    table = written(graph, catalog_objects=catalog_objects)["nodes"][0]["scanTableSource"]["table"]
    assert table["resolvedTable"]["options"] == {"connector": "filesystem", "path": "/data/orders"}


def test_an_inline_table_without_options_is_refused() -> None:
    table = orders_table().model_copy(update={"options": None})
    with pytest.raises(PlanError, match="inline table"):
        encode(example(source=TableReference(resolved_table=table)))


def test_a_secret_in_clear_text_is_refused() -> None:
    graph = example(source=TableReference(identifier=ORDERS, resolved_table=orders_table(password="hunter2")))
    with pytest.raises(PlanError, match=r"default_catalog.default_database.orders.*'password'") as caught:
        encode(graph)
    assert "${env:PASSWORD}" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    encode(graph, CompileOptions(catalog_objects="SCHEMA"))


def test_a_reference_to_a_secret_stays_one() -> None:
    table = orders_table(password="${env:DB_PASSWORD}")
    text = encode(example(source=TableReference(identifier=ORDERS, resolved_table=table)))
    assert '"password": "${env:DB_PASSWORD}"' in text


@pytest.mark.parametrize("catalog_objects", ["ALL", "SCHEMA", "IDENTIFIER"])
def test_a_plan_is_written_again_as_it_was_read(catalog_objects: Any) -> None:
    text = encode(example(), CompileOptions(catalog_objects=catalog_objects))
    assert encode(load(text)) == text


def test_options_a_node_does_not_read_are_refused() -> None:
    with pytest.raises(PlanError, match=r"does not read option 'table\.exec\.state\.ttl'"):
        encode(calc(configuration={"table.exec.state.ttl": "1 d"}))
