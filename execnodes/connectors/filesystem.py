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


LOOKUP_CACHE = "lookup.cache"


def needs_copy(options: Options) -> str | None:
    """Files have no keys: rows are looked up in a copy of the whole table, if that is asked for."""
    if options.get(LOOKUP_CACHE, "").upper() == "FULL":
        return None
    return f"Set its option '{LOOKUP_CACHE}' to 'FULL': rows are looked up in a copy, made anew when files change."


CONNECTOR = ConnectorDeclaration(
    "filesystem",
    source=SourceAbilities(
        bounded=bounded, again=True, position_by_path=True, lookups=needs_copy, filters=True, metadata=METADATA
    ),
    sink=SinkAbilities(overwrites=True, metadata=NO_METADATA),
    formats=True,
    identity=("path",),
)
