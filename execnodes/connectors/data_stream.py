"""data-stream: inserts of a DataFrame; whether it ends is known when it is registered."""

from execnodes.core.connectors import ConnectorDeclaration, SourceAbilities

CONNECTOR = ConnectorDeclaration("data-stream", source=SourceAbilities())
