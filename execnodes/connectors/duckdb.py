"""duckdb: read whole; written by primary key or, without one, each row deleted by its values, which needs every -U."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SinkAbilities, SourceAbilities, Takes

CONNECTOR = ConnectorDeclaration(
    "duckdb",
    source=SourceAbilities(metadata=NO_METADATA),
    sink=SinkAbilities(Takes.CHANGES, takes_by_key=Takes.UPSERTS, overwrites=True, metadata=NO_METADATA),
    identity=("path", "table"),
)
