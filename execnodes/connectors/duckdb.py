"""duckdb: read whole; written by primary key or, without one, each row deleted by its values, which needs every -U."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, Options, SinkAbilities, SourceAbilities, Takes


def always_looked_up(options: Options) -> str | None:
    """DuckDB finds rows by any columns."""
    return None


CONNECTOR = ConnectorDeclaration(
    "duckdb",
    source=SourceAbilities(lookups=always_looked_up, metadata=NO_METADATA),
    sink=SinkAbilities(Takes.CHANGES, takes_by_key=Takes.UPSERTS, overwrites=True, metadata=NO_METADATA),
    identity=("path", "table"),
)
