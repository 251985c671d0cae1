"""filesystem: files of any format; they end unless the folder is watched."""

from execnodes.core.connectors import ConnectorDeclaration, Options, SinkAbilities, SourceAbilities

MONITOR_INTERVAL = "source.monitor-interval"


def bounded(options: Options) -> bool:
    """Whether a table with these options ends by itself."""
    return not options.get(MONITOR_INTERVAL)


CONNECTOR = ConnectorDeclaration(
    "filesystem",
    source=SourceAbilities(bounded=bounded, again=True, filters=True),
    sink=SinkAbilities(overwrites=True),
    formats=True,
)
