"""data-stream: inserts of a DataFrame; whether it ends is known when it is registered."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SourceAbilities

CONNECTOR = ConnectorDeclaration("data-stream", source=SourceAbilities(metadata=NO_METADATA), identity=("uid",))
