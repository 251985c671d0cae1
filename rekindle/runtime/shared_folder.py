"""Whether executors have the folders that a job and its sinks write into: asked before any row reaches a sink.

Tasks leave state in the job's folder, and sinks rename what tasks have written. Where an executor has another folder
under that path, rows and state would be lost. So each executor reads a file of the driver and writes one back.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import JobError
from rekindle.engine.store.disk import LocalDisk
from rekindle.spark.executors import Executors, is_one_process

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_DRIVER = "driver"
_PATIENCE = 5.0
"""Seconds for which a file may be on its way: file systems over a network remember for a while what was not there."""
_SPREAD = 0.2
"""Seconds that a task takes at least, so that others of them go to other executors."""
_ROUNDS = 5
"""Times that tasks are sent, until one has run on each executor."""
_COLUMNS = "host STRING, process INT, user STRING, name STRING, problem STRING"
Answer = tuple[str, int, str, str, str]
"""Host, process id of an executor's Python, user, the file that it has written, and what went wrong."""


@dataclass(frozen=True)
class Probe:
    """What a task does: reads the file of the driver in each folder, and writes its own beside it."""

    folders: tuple[str, ...]
    token: str
    patience: float = _PATIENCE

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For `mapInArrow`: a row a folder."""
        import pyarrow as pa

        for _ in batches:
            pass
        time.sleep(_SPREAD)
        answers = [self.answer(folder) for folder in self.folders]
        columns = zip(*answers, strict=True)
        types = (pa.string(), pa.int32(), pa.string(), pa.string(), pa.string())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=["host", "process", "user", "name", "problem"])

    def answer(self, folder: str) -> Answer:
        """What this process sees of a folder."""
        name = secrets.token_hex(8)
        try:
            problem = self._read(folder)
            if not problem:
                # As files of state are.
                LocalDisk(folder).create(name, [self.token.encode()])
        except OSError as error:
            problem = _text(error, "written")
        # An executor forks its workers from one process.
        return socket.gethostname(), os.getppid(), user(), name, problem

    def _read(self, folder: str) -> str:
        until = time.monotonic() + self.patience
        while True:
            try:
                same = Path(folder, _DRIVER).read_bytes() == self.token.encode()
                return "" if same else "another file of that name is there"
            except OSError as error:
                if time.monotonic() > until:
                    return _text(error, "read")
            time.sleep(0.1)


class SharedFolders:
    """Asks all executors, and those that come later. Where all of Spark is one process there is nothing to ask."""

    def __init__(self, spark: SparkSession, job: Path, others: Sequence[Path]) -> None:
        """`others`: folders that sinks write into."""
        self._spark, self._job = spark, job
        self._folders = tuple(dict.fromkeys((job, *others)))
        self._asked: frozenset[str] = frozenset()
        self._executors = None if is_one_process(spark) else Executors(spark)

    def require(self) -> None:
        """JobError that names host, user and folder of an executor that does not share one of them."""
        if self._executors is not None:
            self.ask(self._executors.names, self._run)

    def ask(self, executors: Callable[[], frozenset[str]], run: Callable[[Probe], Sequence[Answer]]) -> None:
        """The same for executors by their names, and tasks that `run` runs."""
        if self._asked and executors() <= self._asked:
            return
        seen: set[tuple[str, int]] = set()
        for _ in range(_ROUNDS):
            seen |= self._once(run)
            self._asked = executors()
            if len(seen) >= len(self._asked) - 1:
                return

    def _once(self, run: Callable[[Probe], Sequence[Answer]]) -> set[tuple[str, int]]:
        token = secrets.token_hex(16)
        places = [folder / f".probe-{token[:8]}" for folder in self._folders]
        try:
            for place in places:
                place.mkdir(mode=0o700, parents=True)
                LocalDisk(str(place)).create(_DRIVER, [token.encode()])
            answers = run(Probe(tuple(map(str, places)), token))
            for number, answer in enumerate(answers):
                self._check(answer, places[number % len(places)], token)
        finally:
            for place in places:
                shutil.rmtree(place, ignore_errors=True)
        return {(host, process) for host, process, *_ in answers}

    def _check(self, answer: Answer, place: Path, token: str) -> None:
        host, _, name, file, problem = answer
        if not problem:
            try:
                if (place / file).read_bytes() == token.encode():
                    return
                problem = "what the executor writes is not what the driver reads"
            except FileNotFoundError:
                problem = "a file that the executor writes is not there for the driver"
            except OSError as error:
                problem = f"a file that the executor writes cannot be read by the driver: {error.strerror}"
        what = "job folder" if place.parent == self._job else "folder of a sink"
        raise JobError(
            f"the {what} is not shared with the executor on host {host}, user {name}: {problem}",
            where=str(place.parent),
            hint="Driver and executors need it under the same path, on a file system that all hosts mount, and run as "
            f"the same user (the driver: host {socket.gethostname()}, user {user()}). No row has been written. "
            "docs/jobs.md says more.",
        )

    def _run(self, probe: Probe) -> Sequence[Answer]:
        spark = self._spark
        tasks = 2 * max(spark.sparkContext.defaultParallelism, len(self._asked), 1)
        rows = spark.range(0, tasks, 1, tasks).mapInArrow(probe, _COLUMNS).collect()
        return [(row.host, row.process, row.user, row.name, row.problem) for row in rows]


def user() -> str:
    """Of this process: its name and number."""
    number = os.geteuid()
    try:
        return f"{pwd.getpwuid(number).pw_name} ({number})"
    except KeyError:
        return str(number)


def _text(error: OSError, done: str) -> str:
    return f"a file in it cannot be {done}: {error.strerror}"
