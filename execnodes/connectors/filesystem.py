"""filesystem: files of any format; they end unless the folder is watched."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, Options, SinkAbilities, SourceAbilities
from execnodes.core.types import BIGINT, STRING, timestamp_ltz

METADATA = {
    "file.path": STRING.not_null(),
    "file.name": STRING.not_null(),
    "file.size": BIGINT.not_null(),
    "file.modification-time": timestamp_ltz(3).not_null(),
}
"""As in Flink."""
MONITOR_INTERVAL = "source.monitor-interval"


def bounded(options: Options) -> bool:
    """Whether a table with these options ends by itself."""
    return not options.get(MONITOR_INTERVAL)


CONNECTOR = ConnectorDeclaration(
    "filesystem",
    source=SourceAbilities(bounded=bounded, again=True, position_by_path=True, filters=True, metadata=METADATA),
    sink=SinkAbilities(overwrites=True, metadata=NO_METADATA),
    formats=True,
    identity=("path",),
)
