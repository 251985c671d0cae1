"""Fixtures of restore programs: a plan, a savepoint, the changes before it, the rows there must be in the end.

They are what a release wrote, so they are made once and never overwritten.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import StateError
from execnodes.core.graph import ExecGraph
from execnodes.core.registry import UnknownNodeError
from plans.evolution.upgrade import upgrade
from plans.format.load import load
from rekindle.savepoints.manifest import sealed
from rekindle.testing.compare import compare
from rekindle.testing.materialize import Row
from rekindle.testing.restore_program import RestoreProgram, Rows
from rekindle.testing.restore_run import Changes, compiled, put, rows, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN, SAVEPOINT, BEFORE, EXPECTED = "plan.json", "savepoint", "before.json", "expected.json"


def write(spark: SparkSession, program: RestoreProgram, fixture: Path) -> list[str]:
    """Run a program whole for the rows there must be, then cut for the savepoint.

    Gives what differs from the rows the program itself expects; then nothing is written. StateError if there is a
    fixture.
    """
    if fixture.exists():
        raise StateError("there is a fixture already", where=str(fixture), hint="Fixtures are never overwritten.")
    with tempfile.TemporaryDirectory() as folder:
        expected = _whole(spark, program, Path(folder) / "whole")
        problems = _differences(program.rows_after, expected)
        return problems or _cut(spark, program, Path(folder) / "cut", expected, fixture)


def go_on(
    spark: SparkSession,
    program: RestoreProgram,
    fixture: Path,
    folder: Path,
    *,
    recompiled: bool = False,
    parallelism: int = 2,
) -> list[str]:
    """Go on from a fixture in an empty folder, with other parallelism and key groups; gives what is wrong of the rows.

    With `recompiled` it is the plan of today that goes on, else the fixture's. `parallelism` is 1 where it was taken.
    """
    # What has been read already is not there any more: nobody may look at it again.
    for name in program.before:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    put({name: text for name, text in program.before.items() if name.endswith(".duckdb")}, folder, 0)
    put(program.after, folder, 1)
    made = compiled(program, folder)
    graph = made.plan.graph if recompiled else stored(fixture)
    savepoint = _unpacked(fixture, folder)
    later = run(spark, program, made, graph, folder=folder, savepoint=savepoint, parallelism=parallelism, groups=3)
    before: Changes = _read(fixture / BEFORE)
    expected: dict[str, list[Row]] = _read(fixture / EXPECTED)
    sinks = sorted({*expected} ^ {*later})
    if sinks:
        return [f"the plans of then and now do not both write to {', '.join(sinks)}"]
    found = rows(made, {sink: [*before[sink], *changes] for sink, changes in later.items()})
    return [*_differences(expected, found), *_differences(program.rows_after, found)]


def stored(fixture: Path) -> ExecGraph:
    """The plan of a fixture; nodes of versions that are no longer executed as those that lead on from them."""
    path = fixture / PLAN
    text = path.read_text(encoding="utf-8")
    try:
        return load(text, source=str(path))
    except UnknownNodeError:
        return load(upgrade(text, source=str(path), newest=False).text, source=str(path))


def _whole(spark: SparkSession, program: RestoreProgram, folder: Path) -> dict[str, list[Row]]:
    put(program.before, folder, 0)
    put(program.after, folder, 1)
    made = compiled(program, folder)
    return rows(made, run(spark, program, made, made.plan.graph, folder=folder))


def _cut(
    spark: SparkSession, program: RestoreProgram, folder: Path, expected: dict[str, list[Row]], fixture: Path
) -> list[str]:
    put(program.before, folder, 0)
    made = compiled(program, folder, 0)
    target = folder / SAVEPOINT
    before = run(spark, program, made, made.plan.graph, folder=folder, target=target)
    problems = _differences(program.rows_before, rows(made, before))
    if problems:
        return problems
    manifest = target / "manifest.json"
    _replace(manifest, str(folder), "${dir}")
    fixture.mkdir(parents=True)
    (fixture / PLAN).write_text(made.plan.as_json_string(), encoding="utf-8")
    (fixture / BEFORE).write_text(_text(before), encoding="utf-8")
    (fixture / EXPECTED).write_text(_text(expected), encoding="utf-8")
    shutil.move(target, fixture / SAVEPOINT)
    return []


def _replace(manifest: Path, old: str, new: str) -> None:
    content: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8").replace(old, new))
    text = sealed(content) if "seal" in content else json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    manifest.write_text(text, encoding="utf-8")


def _unpacked(fixture: Path, folder: Path) -> Path:
    """A copy of the fixture's savepoint whose positions name the files in `folder`."""
    target = folder / "savepoint-before"
    shutil.copytree(fixture / SAVEPOINT, target)
    manifest = target / "manifest.json"
    _replace(manifest, "${dir}", str(folder))
    return target


def _differences(expected: Rows, found: dict[str, list[Row]]) -> list[str]:
    problems = []
    for sink, wanted in expected.items():
        difference = compare([list(row) for row in wanted], found.get(sink, []))
        if difference:
            problems.append("\n  ".join([f"sink {sink}:", *difference.lines()]))
    return problems


def _text(changes: Mapping[str, Sequence[object]]) -> str:
    """A row a line, so that differences can be read."""
    sinks = []
    for sink, found in sorted(changes.items()):
        inner = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in found)
        sinks.append(f"  {json.dumps(sink)}: [\n{inner}\n  ]" if found else f"  {json.dumps(sink)}: []")
    return "{\n" + ",\n".join(sinks) + "\n}\n"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
