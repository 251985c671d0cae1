"""spark: whether a stream ends, only the user knows; Spark's batch readers do."""

from execnodes.core.connectors import ConnectorDeclaration, Options, SinkAbilities, SourceAbilities

BOUNDED = "spark.bounded"


def bounded(options: Options) -> bool:
    """Whether a table with these options ends by itself."""
    return options.get(BOUNDED, "false") == "true"


_PLACES = (
    "path", "table", "dbtable", "query", "url", "topic", "subscribe", "subscribePattern", "assign",
    "kafka.bootstrap.servers", "host", "port",
)  # fmt: skip
"""Options by which the data sources of Spark, and those that are often used with it, find their data."""
CONNECTOR = ConnectorDeclaration(
    "spark",
    source=SourceAbilities(bounded=bounded, whole=True),
    sink=SinkAbilities(),
    identity=("spark.format", *(f"spark.options.{each}" for each in _PLACES)),
)
