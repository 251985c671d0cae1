"""What PySpark 4.1 lacks of what jobs use, and what stands in for it; no other module asks for Spark's release.

From 4.2 on, streams have names, by which the checkpoint knows them, and Spark tells a Python data source where it
stands and how much to give. With 4.1 a checkpoint knows streams by their order in the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from execnodes.core.errors import ConnectorError, JobError, OptionError

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamReader

_NAMED_LOG = "v2"
"""First line of an offset log whose streams have names."""
_NAMES_SINCE = (4, 2)


def installed() -> str:
    """Release of the PySpark that jobs run with."""
    import pyspark

    return pyspark.__version__


def names_streams() -> bool:
    """Whether the installed PySpark has named streams, and sources with a bound."""
    return Version(installed()).release >= _NAMES_SINCE


def named(reader: DataStreamReader, name: str) -> DataStreamReader:
    """The reader of a stream that is called `name`, where streams have names."""
    return reader.name(name) if names_streams() else reader


def require_named_streams(what: str, where: str, hint: str) -> None:
    """ConnectorError if the installed PySpark is too old for `what`."""
    if not names_streams():
        raise ConnectorError(f"{what} needs PySpark 4.2 or newer, not {installed()}", where=where, hint=hint)


def require_classic(spark: object) -> None:
    """OptionError for a session of Spark Connect: jobs run where Spark's driver is, and a client of it is elsewhere."""
    if type(spark).__module__.startswith("pyspark.sql.connect."):
        raise OptionError(
            "a session of Spark Connect cannot run jobs: they run in the process of Spark's driver",
            hint="Give a session that is not remote (without SPARK_REMOTE and SparkSession.builder.remote), or none.",
        )


def logged_offsets(checkpoint: Path, batch: int, streams: Sequence[str]) -> dict[str, tuple[str, Path]]:
    """The offset of each stream behind a micro-batch, and the folder of its own log.

    `streams`: names in the order of the query. Streams that have not begun are left out.
    """
    version, _, *lines = (checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
    if version == _NAMED_LOG:
        parts = (line.partition(":") for line in lines)
        found = {name: (offset, checkpoint / "sources" / name) for name, _, offset in parts}
    else:
        ordinals = enumerate(zip(streams, lines, strict=True))
        found = {name: (offset, checkpoint / "sources" / str(at)) for at, (name, offset) in ordinals}
    return {name: (offset, log) for name, (offset, log) in found.items() if offset != "-"}


def refuse_other_checkpoint(checkpoint: Path) -> None:
    """JobError if a checkpoint is of a PySpark that named streams, and the installed one does not, or the reverse."""
    logs = sorted((checkpoint / "offsets").glob("[0-9]*"))
    if not logs:
        return
    named_then = logs[0].read_text(encoding="utf-8").startswith(_NAMED_LOG)
    if named_then != names_streams():
        raise JobError(
            f"PySpark {'4.2 or newer' if named_then else '4.1'} has written the job's checkpoint, and "
            f"{installed()} would not find its streams in it",
            where=str(checkpoint),
            hint="Take a savepoint with that PySpark (`rekindle savepoint`), and start from it in a new --job-dir.",
        )
