"""data-stream: inserts of a DataFrame; whether it ends is known when it is registered."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SourceAbilities

<<<<<<< HEAD
CONNECTOR = ConnectorDeclaration("data-stream", source=SourceAbilities(metadata=NO_METADATA))
=======
CONNECTOR = ConnectorDeclaration("data-stream", source=SourceAbilities(), identity=("uid",))
>>>>>>> fa6b8992 (Say what a table that lies elsewhere does to rows)
