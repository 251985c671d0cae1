"""print: every kind of row."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SinkAbilities, Takes

CONNECTOR = ConnectorDeclaration("print", sink=SinkAbilities(Takes.CHANGES, metadata=NO_METADATA))
