"""datagen: rows that end with their number, or with the shortest sequence."""

from execnodes.core.connectors import NO_METADATA, ConnectorDeclaration, Options, SourceAbilities, at_least

ROWS = "number-of-rows"


def _bounded(options: Options) -> bool:
    if options.get(ROWS):
        return at_least(0, options[ROWS])
    return any(key.startswith("fields.") and key.endswith(".end") for key in options)


CONNECTOR = ConnectorDeclaration("datagen", source=SourceAbilities(bounded=_bounded, again=True, metadata=NO_METADATA))
