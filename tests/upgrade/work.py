"""``python -m tests.upgrade.work ORDER``: what one release does for a test, with the code its process finds first.

It uses only what 1.0.0 has. ORDER is a JSON file; see `Order`.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import PlanError
from execnodes.core.version import ENGINE_VERSION
from rekindle.testing.restore_fixtures import PLAN, go_on, write
from rekindle.testing.restore_program import RestoreProgram
from rekindle.testing.restore_run import compiled, put, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DROPPED = "no longer executes that version"


@dataclass(frozen=True)
class Order:
    """What to do; programs as data, because their class is the release's own."""

    write: list[tuple[dict[str, Any], str]]
    """Programs and the folders of the fixtures to be made."""
    go_on: list[tuple[dict[str, Any], str, str]]
    """Programs, folders of their fixtures, and empty folders to go on in."""
    stop: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    """Programs and empty folders: each is run in the folder ``job`` there, and stopped with a ``savepoint``."""


def data_of(program: RestoreProgram) -> dict[str, Any]:
    """A program as JSON values: without what has its default, which an older release may not know."""
    given = {each.name: getattr(program, each.name) for each in fields(RestoreProgram)}
    empty = asdict(RestoreProgram("", ""))
    return {name: value for name, value in given.items() if name in ("name", "sql") or value != empty[name]}


def gone_on(spark: SparkSession, program: RestoreProgram, fixture: Path, folder: Path) -> dict[str, Any]:
    """Go on from a fixture with its plan as it is, and migrated.

    Gives the problems of each way, and the message where the plan itself is refused because a version was dropped.
    """
    found: dict[str, Any] = {"migrated": [], "refused": ""}
    try:
        found["as it is"] = go_on(spark, program, fixture, folder / "plain")
    except PlanError as error:
        if DROPPED not in str(error):
            raise
        found["refused"] = str(error)
    text = (fixture / PLAN).read_text(encoding="utf-8")
    migrated = _migrated(text, str(fixture))
    if json.loads(migrated)["nodes"] != json.loads(text)["nodes"]:
        shutil.copytree(fixture, folder / "fixture")
        (folder / "fixture" / PLAN).write_text(migrated, encoding="utf-8")
        found["migrated"] = go_on(spark, program, folder / "fixture", folder / "migrated")
    return found


def _migrated(text: str, source: str) -> str:
    try:
        from plans.evolution.upgrade import upgrade
    except ModuleNotFoundError:
        upgrade = import_module("plans.migrate").migrate
    return upgrade(text, source=source).text


def stopped(spark: SparkSession, program: RestoreProgram, folder: Path) -> dict[str, Any]:
    """Run a program's first rows in a job folder that stays; gives the changes."""
    put(program.before, folder, 0)
    settled = replace(program, configuration={**program.configuration, "execution.job-dir": str(folder / "job")})
    made = compiled(settled, folder)
    return run(spark, settled, made, made.plan.graph, folder=folder, target=folder / "savepoint")


def main(path: Path) -> None:
    """Do what is asked; the answer lies beside the order."""
    # The path of 1.0, which today's code knows, too.
    session = import_module("rekindle.runtime.session").session
    order = Order(**json.loads(path.read_text(encoding="utf-8")))
    spark = session(2, {"spark.sql.shuffle.partitions": "2"})
    answer: dict[str, Any] = {"engine": ENGINE_VERSION, "write": {}, "go_on": {}, "stop": {}}
    for data, fixture in order.write:
        answer["write"][fixture] = write(spark, _program(data), Path(fixture))
    for data, fixture, folder in order.go_on:
        answer["go_on"][fixture] = gone_on(spark, _program(data), Path(fixture), Path(folder))
    for data, folder in order.stop:
        answer["stop"][folder] = stopped(spark, _program(data), Path(folder))
    path.with_suffix(".answer").write_text(json.dumps(answer), encoding="utf-8")


def _program(data: dict[str, Any]) -> RestoreProgram:
    tuples = {name: tuple(map(tuple, data[name])) for name in ("edits",) if name in data}
    numbers = {"numbers": tuple(data["numbers"])} if "numbers" in data else {}
    return RestoreProgram(**{**data, **tuples, **numbers})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
