"""Plans whose references or types do not agree are refused, with the node, the property and what stands there."""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel, BeforeValidator

from execnodes.core.errors import PlanError, RekindleError
from execnodes.core.expressions import Call, FieldAccess, InputRef, Literal
from execnodes.core.indexes import ColumnIndex, Index, NoIndex, Number, indexes
from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode, PlanModel
from execnodes.core.registry import lookup
from execnodes.core.windowing import Duration
from plans.format.lint import lint
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from tests.completeness.tree import KEYS
from tests.plans.corpus import compiled

SCRIPT = """
CREATE TABLE t (a INT NOT NULL, b STRING, d DOUBLE, r ROW<x INT, y STRING>, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE u (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '/u', 'format' = 'json');
CREATE TABLE s (a INT, x INT, n BIGINT, m STRING) WITH ('connector' = 'print');
INSERT INTO s SELECT g.a, g.x, g.n, g.m FROM
  (SELECT a, r.x AS x, COUNT(*) AS n, MAX(UPPER(b)) AS m FROM t WHERE d > 1.5 GROUP BY a, r.x) g JOIN u ON g.a = u.k
"""
Json = dict[str, Any]
EXPRESSIONS = (InputRef, Literal, Call, FieldAccess)


@pytest.fixture(scope="module")
def text() -> str:
    return (
        TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"})
        .compile_script(SCRIPT)
        .as_json_string()
    )


def changed(text: str, change: Callable[[dict[str, Json], Json], None]) -> str:
    plan = json.loads(text)
    nodes: dict[str, Json] = {}
    for each in plan["nodes"]:
        name = each["type"].removeprefix("stream-exec-").rpartition("_")[0]
        nodes[f"{name} {each['id']}" if name in nodes else name] = each
    change(nodes, plan)
    return json.dumps(plan)


def every(value: Any, kind: str) -> Iterator[Json]:
    if isinstance(value, dict):
        if value.get("kind") == kind:
            yield value
        for each in value.values():
            yield from every(each, kind)
    elif isinstance(value, list):
        for each in value:
            yield from every(each, kind)


def call(value: Any, name: str) -> Json:
    return next(each for each in every(value, "CALL") if each["internalName"] == name)


CHANGES: dict[str, tuple[Callable[[dict[str, Json], Json], object], str]] = {
    "negative reference": (
        lambda n, _: next(every(n["calc"], "INPUT_REF")).update(inputIndex=-1),
        r"inputIndex|column -1 is none of its input",
    ),
    "reference beyond": (
        lambda n, _: next(every(n["calc"], "INPUT_REF")).update(inputIndex=99),
        "column 99 is none of its input",
    ),
    "type of a reference": (
        lambda n, _: next(every(n["calc"], "INPUT_REF")).update(type="DATE"),
        "the type is DATE, but column",
    ),
    "negative key": (
        lambda n, _: n["exchange"]["inputProperties"][0]["requiredDistribution"].update(keys=[-1]),
        "column -1",
    ),
    "negative join key": (lambda n, _: n["join"]["joinSpec"].update(leftKeys=[-1]), "joinSpec.leftKeys.0.: column -1"),
    "right keys are right columns": (
        lambda n, _: n["join"]["joinSpec"].update(rightKeys=[3]),
        "column 3 is none of its input 1",
    ),
    "right key one beyond": (
        lambda n, _: n["join"]["joinSpec"].update(rightKeys=[1]),
        "column 1 is none of its input 1, which has 1 column",
    ),
    "upsert key": (lambda n, _: n["sink"].update(inputUpsertKey=[-2]), r"inputUpsertKey\[0\]: column -2"),
    "time": (lambda n, _: n["watermark-assigner"].update(rowtimeFieldIndex=-1), "rowtimeFieldIndex: column -1"),
    "type of a call": (lambda n, _: call(n, "$UPPER$1").update(type="INT"), "the type is INT, but UPPER"),
    "operands": (lambda n, _: call(n, "$UPPER$1").update(operands=[]), r"UPPER does not take \(\)"),
    "one operand too many": (
        lambda n, _: call(n, "$UPPER$1").update(operands=call(n, "$UPPER$1")["operands"] * 2),
        "UPPER does not take",
    ),
    "never NULL": (lambda n, _: call(n, "$UPPER$1").update(type="STRING NOT NULL"), "the type is STRING NOT NULL"),
    "field": (lambda n, _: next(every(n, "FIELD_ACCESS")).update(name="z"), "has no field z"),
    "type of a field": (
        lambda n, _: next(every(n, "FIELD_ACCESS")).update(type="STRING"),
        "the type is STRING, but field x",
    ),
    "output": (
        lambda n, _: n["join"].update(outputType=n["join"]["outputType"].replace("`k` INT", "`k` STRING")),
        "outputType: column k is STRING NOT NULL, but its inputs, joined INNER, give INT NOT NULL",
    ),
    "aggregate": (
        lambda n, _: _calls(n)[0].update(type="INT NOT NULL"),
        r"the type is INT NOT NULL, but COUNT\(\) gives BIGINT NOT NULL",
    ),
    "argument": (lambda n, _: _calls(n)[1].update(argList=[-1]), r"argList\[0\]: column -1"),
    "filter": (lambda n, _: _calls(n)[1].update(filterArg=-2), "filterArg: column -2"),
    "option": (lambda n, _: _calls(n)[1].update(options={"separator": 5}), "'separator' with 5 is no option"),
    "no edges": (lambda _, plan: plan.update(edges=[]), "inputProperties has 1 entry, but 0 edges lead"),
    "one edge too few": (lambda _, plan: plan["edges"].pop(-2), "but 0 edges lead"),
    "neither edges nor properties of inputs": (
        lambda n, plan: (plan.update(edges=[]), [each.pop("inputProperties", None) for each in plan["nodes"]]),
        "0 edges lead to it, but it has 1 input",
    ),
    "a source with an input": (
        lambda n, plan: plan["edges"].append(
            {**plan["edges"][0], "source": plan["nodes"][0]["id"], "target": plan["nodes"][-1]["id"]}
        ),
        "edges lead to",
    ),
    "table": (
        lambda n, _: n["sink"]["dynamicTableSink"]["table"]["resolvedTable"]["schema"]["columns"][0].update(
            dataType="DATE"
        ),
        "column a of default_catalog.default_database.s is DATE, but gets INT",
    ),
    "watermark": (
        lambda n, _: next(every(n["table-source-scan"], "INPUT_REF")).update(inputIndex=0),
        "schema: the watermark reads column 'a' as TIMESTAMP",
    ),
}  # fmt: skip


def _calls(nodes: dict[str, Json]) -> list[Json]:
    found = nodes["group-aggregate"]["aggCalls"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_a_plan_that_does_not_agree_with_itself(name: str, text: str) -> None:
    change, message = CHANGES[name]
    wrong = changed(text, lambda nodes, plan: (change(nodes, plan), None)[1])
    with pytest.raises(PlanError, match=message) as raised:
        load(wrong, source="p.json")
    assert raised.value.where is not None
    assert raised.value.where.startswith("p.json, node ")
    assert raised.value.hint
    assert any(each.severity == "error" for each in lint(wrong, source="p.json"))


def test_lint_tells_all_of_them(text: str) -> None:
    def twice(nodes: dict[str, Json], plan: Json) -> None:
        call(nodes, "$UPPER$1").update(type="INT")
        _calls(nodes)[1].update(argList=[-1])
        nodes["sink"].update(inputUpsertKey=[-2])

    found = [each.message for each in lint(changed(text, twice)) if each.severity == "error"]
    assert len(found) == 3, found


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_whole_number_of_a_node_is_known(key: NodeKey) -> None:
    """A property that is a number, or a list of such, says by its type that it is a column, a number, or a duration."""
    assert list(_unknown(lookup(key))) == []


def test_a_number_that_says_nothing_is_seen() -> None:
    class Inner(PlanModel):
        some: tuple[tuple[int, ...], ...] | None
        known: tuple[ColumnIndex, ...] | None
        count: Number
        length: Duration

    class Outer(PlanModel):
        inner: Inner

    assert list(_unknown(Outer)) == ["Inner.some"]
    assert indexes(Inner) == {"known": Index()}


def _unknown(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if model is not ExecNode and issubclass(model, ExecNode) and name in ExecNode.model_fields:
            continue
        says = any(isinstance(each, Index | NoIndex | BeforeValidator) for each in field.metadata)
        inside = [] if says else [*_inside(field.annotation)]
        if int in inside and str not in inside:
            yield f"{model.__name__}.{name}"
        for each in inside:
            if (
                isinstance(each, type)
                and issubclass(each, BaseModel)
                and each not in (InputRef, Literal, Call, FieldAccess)
            ):
                yield from _unknown(each)


def _inside(annotation: Any) -> Iterator[Any]:
    yield annotation
    if get_origin(annotation) is not Annotated:
        for each in get_args(annotation):
            yield from _inside(each)


def test_all_programs_agree_with_themselves() -> None:
    for name, plan in compiled().items():
        if not isinstance(plan, RekindleError):
            assert load(plan.as_json_string(), source=name).nodes


def test_time_attributes_without_a_cast_are_taken() -> None:
    """Up to 1.2, NULLIF gave them to CASE as they are; today's plans have a CAST, and both are read."""
    script = "CREATE TABLE q (ts TIMESTAMP(3)) WITH ('connector' = 'print'); INSERT INTO q SELECT NULLIF(ts, ts) FROM t"
    plan = json.loads(TableEnvironment.create().compile_script(SCRIPT.partition("INSERT")[0] + script).as_json_string())
    case = call(plan, "$CASE$1")
    assert case["operands"][2]["internalName"] == "$CAST$1"
    case["operands"][2] = case["operands"][2]["operands"][0]
    assert load(json.dumps(plan)).nodes


def test_what_joins_members_depends_on_the_row_alone() -> None:
    """A condition is asked of each member where its row stands, as often as Spark likes."""
    script = """CREATE TABLE t (xs ARRAY<DOUBLE>) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
      CREATE TABLE s (x DOUBLE) WITH ('connector' = 'print');
      INSERT INTO s SELECT x FROM t LEFT JOIN UNNEST(xs) AS u (x) ON ABS(x) > 0.5"""
    plan = json.loads(TableEnvironment.create().compile_script(script).as_json_string())
    call(plan, "$ABS$1").update(internalName="$RAND$1", operands=[])
    with pytest.raises(PlanError, match="the condition calls a function that gives another value each time"):
        load(json.dumps(plan))


LOOKUP = """
CREATE TABLE t (k INT, pt AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE d (id INT, name STRING) WITH ('connector' = 'duckdb', 'path' = '/d', 'table' = 'd');
CREATE TABLE s (k INT, name STRING) WITH ('connector' = 'print');
INSERT INTO s SELECT t.k, UPPER(d.name) FROM t LEFT JOIN d FOR SYSTEM_TIME AS OF t.pt ON t.k = d.id AND d.name <> 'x'
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n: n.update(lookupKeys=[]), "lookupKeys is empty"),
        (lambda n: n["lookupKeys"][0].update(column=7), "column 7 is none of the temporal table"),
        (lambda n: n["lookupKeys"][0].update(column=1), "a lookup key is INT, but name is STRING"),
        (lambda n: n["lookupKeys"][0]["value"].update(inputIndex=1), "column 1 is none of its input"),
        (
            lambda n: n["temporalTable"].update(outputType="ROW<`id` INT, `nobody` STRING>"),
            "column nobody STRING is not one of table",
        ),
        (
            lambda n: n["temporalTable"].update(outputType="ROW<`id` INT, `name` BIGINT>"),
            "column name BIGINT is not one of table|is STRING",
        ),
        (lambda n: n.update(outputType="ROW<`k` INT, `name` INT>"), "projectionOnTemporalTable"),
    ],
)
def test_a_lookup_join_that_does_not_agree_with_itself(change: Callable[[Json], None], message: str) -> None:
    text = TableEnvironment.create().compile_script(LOOKUP).as_json_string()
    assert load(text).nodes
    with pytest.raises(PlanError, match=message):
        load(changed(text, lambda nodes, _: change(nodes["lookup-join"])))
