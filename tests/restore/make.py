"""``python -m tests.restore.make NODE`` makes the fixtures that a node version lacks, with the code of today.

It never overwrites: fixtures are what the release wrote that first had the version.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.restore.program import RestoreProgram, programs
from tests.restore.running import BEFORE, EXPECTED, PLAN, SAVEPOINT, Changes, compiled, put, rows, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make(spark: SparkSession, program: RestoreProgram) -> None:
    """Run a program whole for the rows there must be, then cut for the savepoint."""
    with tempfile.TemporaryDirectory() as folder:
        expected = _whole(spark, program, Path(folder) / "whole")
        _cut(spark, program, Path(folder) / "cut", expected)


def _whole(spark: SparkSession, program: RestoreProgram, folder: Path) -> str:
    put(program.before, folder, 0)
    put(program.after, folder, 1)
    made = compiled(program, folder)
    return _text(rows(made, run(spark, program, made, made.plan.graph, folder=folder)))


def _cut(spark: SparkSession, program: RestoreProgram, folder: Path, expected: str) -> None:
    put(program.before, folder, 0)
    made = compiled(program, folder, 0)
    target = folder / SAVEPOINT
    before = run(spark, program, made, made.plan.graph, folder=folder, target=target)
    manifest = target / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace(str(folder), "${dir}"), encoding="utf-8")
    program.fixture.mkdir(parents=True)
    (program.fixture / PLAN).write_text(made.plan.as_json_string(), encoding="utf-8")
    (program.fixture / BEFORE).write_text(_text(before), encoding="utf-8")
    (program.fixture / EXPECTED).write_text(expected, encoding="utf-8")
    target.rename(program.fixture / SAVEPOINT)


def _text(changes: Changes) -> str:
    """A row a line, so that differences can be read."""
    sinks = []
    for sink, found in sorted(changes.items()):
        inner = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in found)
        sinks.append(f"  {json.dumps(sink)}: [\n{inner}\n  ]" if found else f"  {json.dumps(sink)}: []")
    return "{\n" + ",\n".join(sinks) + "\n}\n"


def main(node: str) -> None:
    """Make what is missing."""
    from rekindle.runtime.session import session

    wanted = [each for each in programs() if node in (each.node, "all")]
    if not wanted:
        sys.exit(f"no restore program is for {node!r}; write one in tests/restore/programs/")
    spark = session(2, {"spark.sql.shuffle.partitions": "2"})
    for program in wanted:
        if program.fixture.exists():
            print(f"{program} is there")
            continue
        make(spark, program)
        print(f"{program} made")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
