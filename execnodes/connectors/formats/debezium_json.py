"""debezium-json: records of changes, with the row before an update."""

from execnodes.core.changelog import RETRACT
from execnodes.core.connectors import FormatDeclaration, Takes

FORMAT = FormatDeclaration("debezium-json", gives=RETRACT, takes=Takes.CHANGES)
