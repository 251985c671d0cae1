"""Connectors from outside that were written for Rekindle 1.2 and before: they declare nothing, but have attributes."""

from __future__ import annotations

from execnodes.core.changelog import INSERT_ONLY
from execnodes.core.connectors import ConnectorDeclaration, SinkAbilities, SourceAbilities, Takes, always
from rekindle.connectors.base import Connector, SinkConnector, SourceConnector


def declaration_of(connector: Connector) -> ConnectorDeclaration:
    """What the connector declares, or what its attributes and methods of old say."""
    if hasattr(connector, "declaration"):
        return connector.declaration
    source = sink = None
    if isinstance(connector, SourceConnector):
        bounded = getattr(connector, "bounded", always)
        source = SourceAbilities(
            getattr(connector, "gives", INSERT_ONLY), getattr(connector, "reads_in_batch", bounded)
        )
    if isinstance(connector, SinkConnector):
        takes = getattr(connector, "takes", Takes.INSERTS)
        # Whoever looks for rows by key can only add rows where there is none.
        without_key = Takes.INSERTS if takes is Takes.UPSERTS else takes
        sink = SinkAbilities(without_key, takes, overwrites=getattr(connector, "overwrites", False))
    return ConnectorDeclaration(connector.identifier, source, sink, formats=True, keyed=True)
