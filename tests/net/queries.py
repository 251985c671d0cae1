"""Queries whose plans are recorded with their rows: for node versions that need Spark, and for aggregates in batch.

A plan is that of a release that had something in such plans which none before it had. ``python -m tests.net.queries
ORDER`` runs beside the wheel of any release, as `work`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.net.work import module

DATA = Path(__file__).with_name("data")
_FILE = Path(__file__).with_name("queries.sql")
Record = dict[str, Any]
FOLDER = "/the/data"
"""Stands in plans for the folder of the tables."""
_TABLES = (
    "t (k STRING, v BIGINT, ts TIMESTAMP(3), a ARRAY<INT>, s STRING, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
    f"WITH ('connector' = 'filesystem', 'path' = '{DATA}/t', 'format' = 'json')",
    "c (id INT NOT NULL, n STRING, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) "
    f"WITH ('connector' = 'filesystem', 'path' = '{DATA}/c', 'format' = 'debezium-json')",
)
_FUNCTIONS = {
    **{each: each for each in ("shout", "asked", "words")},
    **{"wmean": "WeightedMean", "last_two": "LastTwo"},
}
"""Name to what it is in `tests.restore.functions`."""


def queries() -> dict[str, tuple[str, str]]:
    """Name to the mode and the SQL of each query of `queries.sql`."""
    text = _FILE.read_text(encoding="utf-8")
    found = re.findall(r"^-- ([a-z ]+): (streaming|batch)\n(.*?)(?=^-- |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: (mode, sql.strip()) for name, mode, sql in found}


def environment(mode: str) -> Any:
    """A table environment of this release that knows the tables and functions."""
    known: Any = import_module("rekindle.udf")
    # Releases before 1.3 have no functions of tables; what the module of functions imports must be there.
    vars(known).setdefault("TableFunction", object)
    vars(known).setdefault("udtf", lambda function: function)
    settings = {"execution.runtime-mode": mode, "table.exec.source.cdc-events-duplicate": "true"}
    made = import_module("rekindle.table_environment").TableEnvironment.create(settings)
    for each in _TABLES:
        made.execute_sql(f"CREATE TABLE {each}")
    for name, place in _FUNCTIONS.items():
        made.execute_sql(f"CREATE FUNCTION {name} AS 'tests.restore.functions:{place}' LANGUAGE PYTHON")
    return made


def keys(plan: Record) -> set[str]:
    """Node versions and aggregates of a plan."""
    found = {each["type"] for each in plan["nodes"]}
    return found | {call["internalName"] for each in plan["nodes"] for call in _calls(each) if "internalName" in call}


def _calls(node: Record) -> list[Record]:
    groups = [node.get("aggCalls", []), *(each.get("aggCalls", []) for each in node.get("groups", []))]
    return [call for group in groups for call in group]


def rows(made: Any, plan: str) -> list[list[Any]]:
    """What a plan gives: its rows in any order but that of an ORDER BY, each with how often it is there in the end."""
    compiled = module("rekindle.results.compiled_plan", "rekindle.compiled_plan").CompiledPlan
    result = compiled.from_json_string(plan.replace(FOLDER, str(DATA)), executor=made).execute()
    result.await_(300)
    changes = [(int(kind), [_text(each) for each in values]) for kind, values in result.changes()]
    if "batch-exec-sort_1" in plan:
        return [[row, 1] for _, row in changes]
    counted = Counter[str]()
    for kind, row in changes:
        counted[json.dumps(row, ensure_ascii=False)] += -1 if kind in (1, 3) else 1
    return [[json.loads(row), times] for row, times in sorted(counted.items()) if times]


def _text(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted([[str(key), _text(each)] for key, each in value.items()], key=str)
    if isinstance(value, list | tuple):
        return [_text(each) for each in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def records(release: str, known: set[str], done: set[str]) -> Record:
    """The queries with something that no release had before in one of its mode, their plans and their rows.

    ``versions``: what the plans of this release have, each after the mode.
    """
    found, versions = [], set[str]()
    environments = {mode: environment(mode) for mode in ("streaming", "batch")}
    for name, (mode, sql) in queries().items():
        try:
            plan = environments[mode].compile_plan_sql(sql).as_json_string().replace(str(DATA), FOLDER)
        except module("execnodes.core.errors").RekindleError as error:
            print(f"{release} refuses {name}: {error!r:.200}")
            continue
        here = {f"{mode} {each}" for each in keys(json.loads(plan))}
        versions |= here
        if here - known and name not in done:
            given = rows(environments[mode], plan)
            found.append({"release": release, "query": name, "mode": mode, "plan": json.loads(plan), "rows": given})
    return {"versions": sorted(versions), "records": found}


def main(path: Path) -> None:
    """Record what is asked for; the answer lies beside the order."""
    order = json.loads(path.read_text(encoding="utf-8"))
    module("rekindle.spark.session", "rekindle.runtime.session").session(2, {"spark.sql.shuffle.partitions": "2"})
    answer = records(order["release"], set(order["known"]), set(order["done"]))
    path.with_suffix(".answer").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
