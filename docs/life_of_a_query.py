"""Follows one query from SQL to rows and writes down every stage: ``python -m docs.life_of_a_query``."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.markers import between_markers
from execnodes.core.graph import ExecGraph
from planner.algebra import Logical
from planner.bind import build_insert
from planner.optimize import optimize
from planner.parse import parse
from planner.statements import Insert
from plans.format.explain import plan_tree
from plans.format.load import load
from plans.format.places import without_places
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import record
from rekindle.pipeline.ways import plan_ways
from rekindle.results.tableau import tableau

PAGE = Path(__file__).with_name("life-of-a-query.md")
FILES = [
    [{"region": "north", "item": "tea", "pieces": 3, "price": 2}],
    [
        {"region": "south", "item": "rice", "pieces": 1, "price": 5},
        {"region": "north", "item": "oil", "pieces": 0, "price": 9},
    ],
    [{"region": "north", "item": "rice", "pieces": 2, "price": 5}],
]
TABLE = """CREATE TABLE orders (region STRING, item STRING, pieces INT, price INT)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
"""
SINK = """CREATE TABLE sales (region STRING, orders BIGINT, amount INT, PRIMARY KEY (region) NOT ENFORCED)
WITH ('connector' = 'print');
"""
QUERY = """SELECT region, COUNT(*) AS orders, SUM(pieces * price) AS amount
FROM orders WHERE pieces > 0 GROUP BY region"""


def render() -> str:
    """The stages as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        for number, orders in enumerate(FILES):
            text = "".join(json.dumps(order) + "\n" for order in orders)
            file = Path(folder) / f"orders-{number}.jsonl"
            file.write_text(text, encoding="utf-8")
            # Files are read in the order of their times.
            os.utime(file, (number, number))
        return "\n".join(_stages(folder)) + "\n"


def _stages(folder: str) -> Iterator[str]:
    environment = TableEnvironment.create({"execution.micro-batch.max-files": "1"})
    environment.execute_script(TABLE.format(path=folder) + SINK)
    insert = f"INSERT INTO sales\n{QUERY}"
    yield "**SQL.** sqlglot reads it, with Flink's words and no others; every error names its line and column.\n"
    yield _block("sql", TABLE.format(path="orders/") + SINK + insert + ";")
    (statement,) = parse(insert)
    assert isinstance(statement, Insert)
    (logical,) = optimize([build_insert(statement, environment.catalog, environment.configuration)])
    yield "**Logical plan.** Names are resolved, types follow Flink's rules, the filter is pushed down.\n"
    yield _block("text", "\n".join(_tree(logical)))
    plan = environment.compile_plan_sql(insert)
    yield ("**ExecNodes** (`rekindle explain`). Nodes know which changes they emit; state has an address.\n")
    yield _block("text", "\n".join(plan_tree(plan.graph)))
    yield "**Compiled plan** (`rekindle compile`). This JSON is what runs; here is one of its nodes.\n"
    yield _block("json", _excerpt(plan.as_json_string()).replace(folder, "orders/"))
    yield "**Spark SQL.** Nodes without state become expressions over what leaves a source or a stateful node.\n"
    # Numbers of places are other ones in each process.
    yield _block("text", "\n".join(_branches(load(without_places(plan.as_json_string())))))
    yield "**Rows.** Each of three files is a micro-batch here; the third one updates what the first one gave.\n"
    result = environment.execute_sql(QUERY)
    result.await_()
    yield _block("text", "\n".join(tableau(result.columns, result.types, result.rows, result.kinds)))


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


def _tree(node: Logical, depth: int = 0) -> Iterator[str]:
    columns = ", ".join(f"{field.name} {field.type}" for field in node.type.fields)
    yield f"{'  ' * depth}{type(node).__name__}: {columns}"
    for each in node.inputs:
        yield from _tree(each, depth + 1)


def _excerpt(plan: str) -> str:
    nodes = json.loads(plan)["nodes"]
    return json.dumps(next(node for node in nodes if "state" in node), indent=2, ensure_ascii=False)


def _branches(graph: ExecGraph) -> Iterator[str]:
    pipeline = plan_ways(record(graph))
    for arm in pipeline.arms:
        consumer = graph.by_id[arm.consumer]
        origin = graph.by_id[arm.branch.origin]
        yield f"from [{origin.id}] {origin.key} to [{consumer.id}] {consumer.key}"
        yield from (f"    {text}" for text in arm.branch.columns)
        if arm.branch.condition is not None:
            yield f"    WHERE {arm.branch.condition}"


def inserted(page: str) -> str:
    """The page with the stages between the markers; ValueError if it has none."""
    return between_markers(page, "life of a query", render())


if __name__ == "__main__":
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
