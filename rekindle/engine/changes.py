"""A job that a query of its user runs: a stream that asks how far it is, whereupon it runs its next micro-batch.

The query asks in a process of Spark's; the answer comes from here, the driver. What enters the job's only sink may be
handed over with it, as files of committed micro-batches; they stay until the query has noted that it has read them.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import JobError
from execnodes.core.tables import Column
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import KIND, quote
from rekindle.connectors.base import SinkWriter
from rekindle.engine.change_reader import SERVER, step_folder
from rekindle.engine.change_source import FORMAT, ChangeSource
from rekindle.engine.program import STEPS
from rekindle.files.atomic_file import write_atomically
from rekindle.files.paths import for_spark
from rekindle.pipeline.failures import explained
from rekindle.spark.releases import named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER = "handed-over"
"""In the job's folder."""


class ChangeFiles(SinkWriter):
    """Writes the changes of each step into a folder of its own, over what an attempt before has left there."""

    single_pass = True

    def __init__(self, folder: Path, columns: Sequence[Column]) -> None:
        self._folder, self._columns = folder, columns

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """See SinkWriter."""
        micro_batch, step = divmod(batch_id, STEPS)
        texts = [f"CAST({quote(c.name)} AS {spark_type(c.data_type)}) AS c{i}" for i, c in enumerate(self._columns)]
        target = step_folder(self._folder, micro_batch, step)
        rows = batch.selectExpr(*texts, f"{KIND} AS c{len(texts)}")
        rows.write.mode("overwrite").parquet(for_spark(batch.sparkSession, target))


@dataclass(frozen=True)
class Driven:
    """What the query runs."""

    advance: Callable[[bool], int]
    """Run the next micro-batch, or all that there is to run, and say which was committed last."""
    let_go: Callable[[], None]
    """The query has ended."""


class Driver:
    """Listens for the query, in a thread that ends with the process."""

    def __init__(self, folder: Path, job_id: str, driven: Driven) -> None:
        self._folder, self._job_id, self._driven = folder, job_id, driven
        key = secrets.token_bytes(32)
        self._listener = Listener(("127.0.0.1", 0), authkey=key)
        port = self._listener.address[1]
        text = f'{{"port": {port}, "key": "{key.hex()}"}}\n'
        write_atomically(folder / SERVER, text, replace=True, private=True)
        threading.Thread(target=self._listen, name=f"rekindle-driven-{job_id}", daemon=True).start()

    def stream(self, spark: SparkSession, columns: Sequence[Column]) -> DataFrame:
        """The stream; its rows are those of the files, with `KIND`."""
        spark.dataSource.register(ChangeSource)
        ddl = ", ".join(f"c{i} {spark_type(column.data_type)}" for i, column in enumerate(columns))
        kind = f"c{len(columns)}"
        options = {
            "folder": str(self._folder),
            "job": self._job_id,
            "columns": f"{ddl}, {kind} TINYINT" if columns else f"{kind} TINYINT",
        }
        frame = named(spark.readStream.format(FORMAT).options(**options), "changes").load()
        return frame.selectExpr(*(f"c{i} AS {quote(c.name)}" for i, c in enumerate(columns)), f"{kind} AS {KIND}")

    def _listen(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except Exception:  # noqa: BLE001  # somebody else's attempt to connect
                continue
            self._serve(connection)

    def _serve(self, connection: Connection[Any, Any]) -> None:
        """One query at a time: who comes meanwhile waits."""
        try:
            with connection:
                while True:
                    connection.send(self._answer(*connection.recv()))
        except (EOFError, OSError):
            self._driven.let_go()

    def _answer(self, everything: bool, start: int | None) -> tuple[str | None, int]:
        try:
            last = self._driven.advance(everything)
            if start is not None and start > last:
                where = str(self._folder.parent)
                raise JobError(f"the query has read micro-batch {start}, and the job is at {last}", where=where)
        except BaseException as error:  # noqa: BLE001  # the query is told
            self._driven.let_go()
            return str(explained(error)), -1
        return None, last


def clear(folder: Path) -> None:
    """Remove what was handed over of a job that begins anew."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
