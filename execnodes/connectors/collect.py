"""collect: every kind of row, or all but -U where the table says so."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SinkAbilities, Takes

CONNECTOR = ConnectorDeclaration(
    "collect", sink=SinkAbilities(Takes.CHANGES, upsert_option="changelog-mode", metadata=NO_METADATA, shows=True)
)
