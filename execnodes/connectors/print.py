"""print: every kind of row."""

from execnodes.core.connectors import ConnectorDeclaration, SinkAbilities, Takes

CONNECTOR = ConnectorDeclaration("print", sink=SinkAbilities(Takes.CHANGES))
