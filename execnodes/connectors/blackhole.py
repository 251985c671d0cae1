"""blackhole: nobody looks for its rows, so that -U is of no use."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, SinkAbilities, Takes

CONNECTOR = ConnectorDeclaration("blackhole", sink=SinkAbilities(Takes.UPSERTS, metadata=NO_METADATA))
