"""blackhole: nobody looks for its rows, so that -U is of no use."""

from execnodes.core.connectors import ConnectorDeclaration, SinkAbilities, Takes

CONNECTOR = ConnectorDeclaration("blackhole", sink=SinkAbilities(Takes.UPSERTS))
