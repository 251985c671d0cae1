"""duckdb: read whole; written by primary key or, without one, each row deleted by its values, which needs every -U."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SinkAbilities, SourceAbilities, Takes

CONNECTOR = ConnectorDeclaration(
    "duckdb",
<<<<<<< HEAD
    source=SourceAbilities(metadata=NO_METADATA),
    sink=SinkAbilities(Takes.CHANGES, takes_by_key=Takes.UPSERTS, overwrites=True, metadata=NO_METADATA),
=======
    source=SourceAbilities(),
    sink=SinkAbilities(Takes.CHANGES, takes_by_key=Takes.UPSERTS, overwrites=True),
    identity=("path", "table"),
>>>>>>> fa6b8992 (Say what a table that lies elsewhere does to rows)
)
