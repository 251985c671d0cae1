"""A job that an earlier release ran over Spark's checkpoint: what that holds, as a savepoint to go on from."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import JobError
from rekindle.files.job_folder import JobFolder
from rekindle.pipeline.state_layout import read_layout
from rekindle.savepoints.restore import Restore, prepare
from rekindle.savepoints.take import take
from rekindle.spark.releases import refuse_other_checkpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from execnodes.core.graph import ExecGraph


@dataclass(frozen=True)
class Adoption:
    """A checkpoint that is to be taken over."""

    folder: JobFolder
    batch: int
    """Its last committed micro-batch; sinks know that number."""

    @property
    def _savepoint(self) -> Path:
        return self.folder.path / "adopted"

    def restore(self, spark: SparkSession, graph: ExecGraph, plan: str) -> Restore:
        """The checkpoint as a savepoint, which is a part of the folder until `finish`. StateError, JobError."""
        shutil.rmtree(self._savepoint, ignore_errors=True)
        take(spark, graph, plan, self.folder, self._savepoint)
        return prepare(self._savepoint, graph, drop_unclaimed=False, drop=frozenset())

    def finish(self) -> None:
        """The job's log has all that the checkpoint had."""
        for each in (self._savepoint, self.folder.checkpoint, self.folder.path / "control"):
            shutil.rmtree(each, ignore_errors=True)


def adoption(folder: JobFolder, *, stopped: bool) -> Adoption | None:
    """What an earlier release has left; None if there is nothing, or it has been taken over.

    `stopped`: the job was told to stop, or came to its end: then sinks have nothing that is not committed. Otherwise a
    micro-batch that was planned and not committed may have reached some, and nobody else makes the same rows of it:
    JobError.
    """
    if folder.is_logged:
        return None
    batch, planned = folder.checkpointed_batch(), folder.planned_batch()
    refuse_other_checkpoint(folder.checkpoint)
    if planned is not None and (batch is None or planned > batch):
        if not stopped:
            known = read_layout(folder)
            engine = "1.1 or older" if known is None else known.engine
            raise JobError(
                f"Rekindle {engine} was interrupted in micro-batch {planned}, which its sinks may have in part",
                where=str(folder.path),
                hint=f"Let Rekindle {engine} go on with it, and stop it there (`rekindle stop`); then run it here.",
            )
        # Whoever comes after a failure behind this point must not take the job for one that was interrupted.
        (folder.checkpoint / "offsets" / str(planned)).unlink()
    return None if batch is None else Adoption(folder, batch)
