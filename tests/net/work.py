"""``python -m tests.net.work ORDER``: what the release that the process finds first makes of expressions.

It uses only what 1.0.0 has. ORDER is a JSON file: ``known`` are function versions that earlier releases had.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.net.calls import CALLS
from tests.net.cells import evaluate
from tests.net.edge_values import ddl
from tests.net.expressions import expressions

ZONES = ("UTC", "America/New_York")
"""An expression is recorded in the others where its Spark text depends on the zone."""
Record = dict[str, Any]


def module(*names: str) -> Any:
    """The first module that this release has."""
    for name in names:
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(names)


def functions() -> dict[str, Any]:
    """Function versions of this release."""
    registry = module("execnodes.functions.registry", "execnodes.core.functions.registry")
    return {each.internal_name: each for each in registry.functions().values()}


def names(value: object) -> Iterator[str]:
    """Function versions in the JSON of an expression."""
    if isinstance(value, dict):
        if "internalName" in value:
            yield value["internalName"]
        for each in value.values():
            yield from names(each)
    elif isinstance(value, list):
        for each in value:
            yield from names(each)


def calls(known: set[str]) -> Iterator[Record]:
    """The expressions that call what no earlier release had, as plans of this release hold them."""
    yield from (each for each in CALLS if _is_new(each["expression"], known))
    environment = import_module("rekindle.table_environment").TableEnvironment.create({})
    environment.execute_sql(ddl())
    for sql in expressions():
        try:
            plan = json.loads(environment.compile_plan_sql(f"SELECT {sql} FROM T").as_json_string())
        except module("execnodes.core.errors").RekindleError:  # What later ones take.
            continue
        found = [each for each in plan["nodes"] if each["type"] == "stream-exec-calc_1"]
        scan = plan["nodes"][0]
        # A value that the planner computed calls nothing.
        if len(found) == 1 and "condition" not in found[0] and _is_new(found[0]["projection"], known):
            yield {"sql": sql, "columns": _fields(scan["outputType"]), "expression": found[0]["projection"][0]}


def _is_new(expression: object, known: set[str]) -> bool:
    """Whether this release has all that is called, and no earlier one did."""
    called = set(names(expression))
    return bool(called - known) and called <= set(functions())


def _fields(row: str) -> list[str]:
    return [each.name for each in module("execnodes.core.types").parse_type(row).fields]


def lowered(record: Record, zone: str) -> str:
    """The Spark text of a record's expression, as this release has it."""
    lower = module("execnodes.functions.lowering", "execnodes.core.functions.lowering").lower
    adapter = module("pydantic").TypeAdapter(module("execnodes.core.expressions").Expression)
    expression = adapter.validate_python(record["expression"])
    engine = record["release"].rpartition(".")[0]
    text: str = lower(expression, [f"`{each}`" for each in record["columns"]], zone, engine)
    return text


def texts(records: list[Record]) -> Iterator[tuple[Record, str]]:
    """Each record with its zone, and its Spark text."""
    for each in records:
        first = lowered(each, ZONES[0])
        for zone in ZONES:
            text = lowered(each, zone)
            if zone == ZONES[0] or text != first:
                yield {**each, "zone": zone}, text


def main(path: Path) -> None:
    """Record what is asked for; the answer lies beside the order."""
    order = json.loads(path.read_text(encoding="utf-8"))
    known, done = set(order["known"]), set(order["done"])
    spark = import_module("rekindle.runtime.session").session(2)
    fresh = [{"release": order["release"], **each} for each in calls(known) if each["sql"] not in done]
    found = list(texts(fresh))
    cells = evaluate(spark, [text for _, text in found])
    records = [{**record, "values": values} for (record, _), values in zip(found, cells, strict=True)]
    answer = {"versions": sorted(functions()), "records": records}
    path.with_suffix(".answer").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
