"""Upgrades: `rekindle check` over plans of 200 nodes, cold and without a JVM; migrations of a million keys' state."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.common import median
from plans.compatibility.accumulators import evolve
from plans.compatibility.plan_meanings import meanings
from plans.compatibility.user_functions import with_accumulators
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.savepoints.contents import read
from rekindle.savepoints.convert import convert
from rekindle.savepoints.database import paths
from rekindle.savepoints.manifest import SavedState
from rekindle.savepoints.writer import SavepointWriter
from rekindle.udf import AggregateFunction

KEYS = int(os.environ.get("REKINDLE_BENCH_KEYS", "1000000"))
NODES = 200
TABLES = """
CREATE TABLE t (k BIGINT, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'parquet');
"""


def figures() -> dict[str, float]:
    """Seconds."""
    with tempfile.TemporaryDirectory() as folder:
        return {**_check(Path(folder), 5), **_built_in(Path(folder)), **_of_the_user(Path(folder))}


def _check(folder: Path, rounds: int) -> dict[str, float]:
    """Every aggregate of the new plan has another column, and none of them goes on as it is."""
    plans = {name: _plan(calls) for name, calls in {"old": "SUM(v), MAX(v)", "new": "MAX(v), SUM(v)"}.items()}
    for name, plan in plans.items():
        assert NODES <= len(load(plan.as_json_string()).nodes) < NODES + 6
        (folder / f"{name}.json").write_text(plan.as_json_string(), encoding="utf-8")
    command = [sys.executable, "-m", "rekindle", "check", "old.json", "new.json", "--json"]
    # Without Java there is no JVM that could help; modules are compiled by the first run, as an installation does it.
    settings = {"JAVA_HOME": "/nowhere", "PATH": "/nowhere", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env={**kept, **settings}, capture_output=True, check=True)
        times.append(time.perf_counter() - began)
        assert b'"full"' in done.stdout
    return {f"rekindle check, plans of {NODES} nodes, cold, s": median(times[1:])}


def _plan(calls: str) -> CompiledPlan:
    """Six nodes a statement, the scan is shared."""
    numbers = range(NODES // 6 + 1)
    sinks = "".join(f"CREATE TABLE s{i} (k BIGINT, a BIGINT, b BIGINT) WITH ('connector' = 'print');" for i in numbers)
    inserts = " ".join(f"INSERT INTO s{i} SELECT k % {i + 2}, {calls} FROM t GROUP BY k % {i + 2};" for i in numbers)
    return TableEnvironment.create().compile_script(f"{TABLES}{sinks} EXECUTE STATEMENT SET BEGIN {inserts} END")


def _built_in(folder: Path) -> dict[str, float]:
    """Migrations that a savepoint's rows go through."""
    made = TableEnvironment.create().compile_script(f"{TABLES} SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k")
    state = next(each for each in meanings(made.graph) if each.columns)
    rows = pa.table(
        {
            name: pa.array(range(KEYS), pa.int64()) if name == "k0" else pa.array([7] * KEYS, pa.int64())
            for name in (each.name for each in state.columns)
        }
    )
    found: dict[str, float] = {}
    old = folder / "saved"
    with _timed(found, "imported"):
        SavepointWriter.new_savepoint(made).with_state(state.title, rows).write(old)
    with _timed(found, "under another uid"):
        SavepointWriter.from_existing_savepoint(old).change_operator_identifier({state.uid: "99_other"}).write(
            folder / "renamed"
        )
    with _timed(found, "other key groups"):
        SavepointWriter.from_existing_savepoint(old).with_max_parallelism(512).write(folder / "resized")
    with _timed(found, "transformed by a function"):
        SavepointWriter.from_existing_savepoint(old).transform_state(state.title, _doubled).write(folder / "doubled")
    with _timed(found, "split in two"):
        writer = SavepointWriter.from_existing_savepoint(old)
        writer.split_operator(state.uid, "98_a", "99_b", "k0 % 2 = 0").write(folder / "split")
    return found


def _doubled(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("s$sum")
    return rows.set_column(at, "s$sum", pc.multiply(rows["s$sum"], 2))


@contextmanager
def _timed(found: dict[str, float], what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    found[f"state of {KEYS} keys, {what}, s"] = time.perf_counter() - began


def _of_the_user(folder: Path) -> dict[str, float]:
    """Accumulators of a function that has another class now, as a start from a savepoint converts them."""
    environment = TableEnvironment.create()
    environment.create_temporary_function("total", _total(("total", int, 0), ("gone", str, "x")))
    made = environment.compile_script(f"{TABLES} SELECT k, TOTAL(v) AS s FROM t GROUP BY k")
    environment.execute_sql("DROP TEMPORARY FUNCTION total")
    environment.create_temporary_function("total", _total(("count", int, 0), ("total", int, 0)))
    before = next(each for each in meanings(made.graph) if each.columns)
    now = with_accumulators(made.graph, environment.functions_of(made.graph))
    after = next(each for each in meanings(now) if each.columns)
    numbers = pa.array(range(KEYS), pa.int64())
    rows = pa.table({"k0": numbers, "s$total": numbers, "s$gone": pa.array(["x"] * KEYS)})
    SavepointWriter.new_savepoint(made).with_state(before.title, rows).write(folder / "accumulators")
    saved: SavedState = read(folder / "accumulators").states[0]
    found: dict[str, float] = {}
    with _timed(found, "accumulators converted"):
        changes = evolve(saved.meaning, after).changes
        convert(saved, list(paths(folder / "accumulators", saved)), changes, folder / "scratch")
    return found


def _total(*fields: Any) -> type[AggregateFunction]:
    state: Any = make_dataclass("TotalState", fields)

    class Total(AggregateFunction):
        def create_accumulator(self) -> Any:
            return state()

        def accumulate(self, accumulator: Any, value: int) -> None:
            accumulator.total += value

        def get_value(self, accumulator: Any) -> int:
            return int(accumulator.total)

        def get_accumulator_type(self) -> Any:
            return state

    return Total
