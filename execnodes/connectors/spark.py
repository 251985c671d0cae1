"""spark: whether a stream ends, only the user knows; Spark's batch readers do."""

from execnodes.core.connectors import ConnectorDeclaration, Options, SinkAbilities, SourceAbilities

BOUNDED = "spark.bounded"


def bounded(options: Options) -> bool:
    """Whether a table with these options ends by itself."""
    return options.get(BOUNDED, "false") == "true"


CONNECTOR = ConnectorDeclaration("spark", source=SourceAbilities(bounded=bounded, whole=True), sink=SinkAbilities())
