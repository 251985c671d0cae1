"""A file writer without Spark, kills between any two changes of files, and readers that look on all the while."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.changelog import INSERT_ONLY
from execnodes.core.options import Configuration
from rekindle.connectors.base import SinkRequest
from rekindle.connectors.file_positions import FilePositions
from rekindle.connectors.file_sink import FileWriter
from rekindle.connectors.files import below
from rekindle.connectors.formats import find_format
from rekindle.connectors.registry import find_sink
from tests.connectors.helpers import context, table

COMPACTED = {"auto-compaction": "true", "compaction.file-size": "100"}
Row = tuple[int, str]
"""A number, and the partition."""


class Killed(BaseException):
    """The process has ended."""


class PlainWriter(FileWriter):
    """Takes lists of rows for frames; each partition has a file or two."""

    def write(self, batch: Any, batch_id: int) -> None:
        super().write(batch, batch_id)

    def _store(self, batch: Any, hidden: Path) -> None:
        hidden.mkdir(parents=True)
        for at, (number, name) in enumerate(batch):
            folder = hidden / f"p={name}" if self._partitions else hidden
            folder.mkdir(exist_ok=True)
            with open(folder / f"part-{at % 2}", "a", encoding="utf-8") as file:
                file.write(json.dumps({"id": number, "p": name}) + "\n")
        (hidden / "part-9").touch()
        (hidden / "_SUCCESS").touch()


def writer(
    place: Path, partitions: Sequence[str] = (), job: str = "job-1", *, overwrite: bool = False, **given: Any
) -> PlainWriter:
    """Opened, of the table in the folder ``out``; `given`: options, for which COMPACTED stands."""
    options = given.get("options", COMPACTED)
    format_name = options.get("format", "json")
    options = {"connector": "filesystem", "format": format_name, "path": str(place / "out"), **options}
    resolved = table({"id": "INT", "p": "STRING"}, options, partitions=tuple(partitions))
    columns = resolved.table_schema.columns
    request = SinkRequest(
        resolved, "t", columns, (), job, place / "job", INSERT_ONLY, Configuration(), context=context()
    )
    no_spark: Any = None
    checked = find_sink("filesystem").check(options, "sink", "t")
    made = PlainWriter(no_spark, replace(request, overwrite=overwrite), checked, find_format(format_name, "t"))
    made.open()
    return made


def seen(target: Path) -> Mapping[str, list[int]]:
    """Numbers of the rows of each file that readers see."""
    files = sorted(below(str(target))) if target.exists() else []
    return {each: [json.loads(line)["id"] for line in Path(each).read_text().splitlines()] for each in files}


def rows_seen(target: Path) -> Counter[int]:
    """Of all files."""
    return Counter(number for rows in seen(target).values() for number in rows)


class Onlookers:
    """A batch reader that looks after every change, and a stream with a position that is saved."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._before: Mapping[str, list[int]] = {}
        self._position: Any = None
        self.streamed: list[int] = []

    def look(self) -> None:
        """Whatever was seen is still there, as it was, and no row twice."""
        if not self._target.exists():
            return
        now = seen(self._target)
        assert {each: now.get(each) for each in self._before} == self._before
        numbers = [number for rows in now.values() for number in rows]
        assert len(numbers) == len(set(numbers)), now
        self._before = now
        no_spark: Any = None
        positions = FilePositions(no_spark, "t", str(self._target), True, 0)
        news = positions.plan(self._position)
        if news is None:
            return
        for path in positions.between(self._position, news.position):
            self.streamed += now[path]
        self._position = json.loads(json.dumps(news.position))


@contextmanager
def changes(patched: pytest.MonkeyPatch, before: Callable[[], None]) -> Iterator[None]:
    """`before` is called before every change of files; what removes a folder has removed a file of it by then."""

    def heralded(change: Any) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            before()
            return change(*arguments, **options)

        return called

    def half(folder: Any, *arguments: Any, **options: Any) -> None:
        before()
        for parent, _, names in os.walk(folder):
            for name in names[:1]:
                remove(os.path.join(parent, name))
        before()
        whole(folder, *arguments, **options)

    remove, whole = os.unlink, shutil.rmtree
    with patched.context() as patch:
        for name in ("replace", "unlink", "touch", "mkdir"):
            patch.setattr(Path, name, heralded(getattr(Path, name)))
        patch.setattr(os, "utime", heralded(os.utime))
        patch.setattr(shutil, "rmtree", half)
        yield
