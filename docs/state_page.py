"""Runs the commands that docs/state.md shows and writes what they print into it: ``python -m docs.state_page``."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.savepoints.planned import planned_states
from rekindle.savepoints.writer import SavepointWriter

PAGE = Path(__file__).with_name("state.md")
_BLOCK = re.compile(r"(?s)```console\n(.*?)```")
_FILE = re.compile(r"(?s)```(?:python|sql) ([\w.]+)\n(.*?)```")
_SECONDS = re.compile(r"\d+\.\d s\b")
CUSTOMERS = 500


def render(page: str) -> str:
    """The page with what its commands print today, in its order, in one folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = [*sys.path]
        try:
            for name, content in _FILE.findall(page):
                Path(name).write_text(content, encoding="utf-8")
            _save()
            return _BLOCK.sub(lambda block: f"```console\n{''.join(_replayed(block[1]))}```", page)
        finally:
            sys.path[:] = path
            for name, _ in _FILE.findall(page):
                sys.modules.pop(name.removesuffix(".py"), None)


def _replayed(block: str) -> Iterator[str]:
    for line in block.splitlines():
        if line.startswith("$ "):
            yield f"{line}\n{_run(line[2:])}"


def _run(command: str) -> str:
    """What a command prints, with its exit code if there is one; times are those of nobody's machine."""
    words = shlex.split(command)
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
        if words[0] == "cat":
            print(Path(words[1]).read_text(encoding="utf-8"), end="")
        else:
            _rekindle(words)
    return _SECONDS.sub("0.1 s", output.getvalue())


def _rekindle(words: list[str]) -> None:
    before, sys.argv = sys.argv, words
    try:
        main.run()
    except SystemExit as ended:
        if ended.code:
            print(f"(exit code {ended.code})")
    finally:
        sys.argv = before


def _save() -> None:
    """The plans of old.sql and new.sql, and a savepoint of the first one."""
    for name in ("old", "new"):
        environment = TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"})
        plan = environment.compile_script(Path(f"{name}.sql").read_text(encoding="utf-8"))
        plan.write_to_file(f"{name}.json")
        if name == "old":
            sums, items = planned_states(plan.graph).values()
            writer = SavepointWriter.new_savepoint(plan)
            writer.with_state(sums.title, _sums()).with_state(items.title, _items()).write("saved")


def _sums() -> pa.Table:
    numbers = range(CUSTOMERS)
    return pa.table(
        {
            "k0": [f"c-{n:03}" for n in numbers],
            "orders$count": [n % 7 + 1 for n in numbers],
            "amount$sum": [n % 7 * 120 + n for n in numbers],
            "items$count": [n % 2 + 1 for n in numbers],
        }
    )


def _items() -> pa.Table:
    rows = [(f"c-{n:03}", item) for n in range(CUSTOMERS) for item in (["tea", "rice"] if n % 2 else ["tea"])]
    return pa.table(
        {"k0": [k for k, _ in rows], "value": [item for _, item in rows], "items$occurrences": [1] * len(rows)}
    )


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
