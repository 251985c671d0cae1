"""Reading a stream of a job's changes: asks how far the job is, and reads what it has left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from execnodes.core.errors import JobError
from rekindle.spark.releases import names_streams
from rekindle.spark.types import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

SERVER, TAKEN, ROWS = "server.json", "taken.json", "rows"
"""In the folder: where the driver listens; up to where changes have been removed; a folder of them a step."""


def step_folder(folder: Path, micro_batch: int, step: int) -> Path:
    """Where the changes of a step lie."""
    return folder / ROWS / f"{micro_batch:012d}-{step:03d}"


def _micro_batch(step: Path) -> int:
    return int(step.name.partition("-")[0])


class ChangeReader(DataSourceStreamReader):
    """Offsets are ``{"job": its id, "batch": the last micro-batch}``. Asking for the latest one runs the job."""

    def __init__(self, folder: str, job: str, schema: StructType) -> None:
        self._folder, self._job, self._schema = Path(folder), job, schema
        self._connection: Connection[Any, Any] | None = None
        self._everything = not names_streams()
        """Whether the query takes what is there, and ends; PySpark 4.1 does not tell."""
        self._target: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before the first micro-batch; JobError if another query has taken changes away."""
        if (self._folder / TAKEN).exists():
            raise JobError(
                "changes of the job have been handed over to a query with another checkpoint",
                where=str(self._folder.parent),
                hint="Start the query with that checkpoint, or give a new execution.job-dir.",
            )
        return {"job": self._job, "batch": -1}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Behind the next micro-batch, or behind all that can be run now; PySpark 4.1 gives no arguments."""
        if self._target is not None:
            return self._target
        if start is not None:
            self._check(start)
        if self._connection is None:
            server = json.loads((self._folder / SERVER).read_text(encoding="utf-8"))
            self._connection = Client(("127.0.0.1", server["port"]), authkey=bytes.fromhex(server["key"]))
        self._connection.send((self._everything, None if start is None else start["batch"]))
        error, batch = self._connection.recv()
        if error is not None:
            raise JobError(error)
        latest = {"job": self._job, "batch": batch}
        if self._everything and names_streams():
            self._target = latest
        return latest

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A file each."""
        self._check(end)
        steps = sorted((self._folder / ROWS).glob("[0-9]*-[0-9]*"))
        taken = (each for each in steps if start["batch"] < _micro_batch(each) <= end["batch"])
        return [InputPartition(str(file)) for each in taken for file in sorted(each.glob("part-*"))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Arrow batches."""
        import pyarrow.parquet as pq

        wanted = arrow_schema(self._schema)
        for batch in pq.ParquetFile(str(partition.value)).iter_batches():
            # Parquet's readers and Spark have other names for what is in a map.
            yield batch.cast(wanted)

    def commit(self, end: dict[str, Any]) -> None:
        """Nobody asks for these changes again."""
        steps = [each for each in (self._folder / ROWS).glob("[0-9]*-[0-9]*") if _micro_batch(each) <= end["batch"]]
        if steps:
            (self._folder / TAKEN).write_text(json.dumps(end), encoding="utf-8")
        for each in steps:
            shutil.rmtree(each, ignore_errors=True)

    def _check(self, offset: dict[str, Any]) -> None:
        if offset["job"] != self._job:
            raise JobError(
                f"the query's checkpoint is of the job {offset['job']}, and this one is {self._job}",
                where=str(self._folder.parent),
                hint="Set execution.job-dir to the folder of that job, or give the query a new checkpoint.",
            )
