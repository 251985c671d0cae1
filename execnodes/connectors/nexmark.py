"""nexmark: events that end if their number is given."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, Options, SourceAbilities, at_least

EVENTS = "events.num"


def _bounded(options: Options) -> bool:
    return at_least(1, options.get(EVENTS, "0"))


CONNECTOR = ConnectorDeclaration("nexmark", source=SourceAbilities(bounded=_bounded, again=True, metadata=NO_METADATA))
