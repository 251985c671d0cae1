"""canal-json: records of changes, from which the row before an update is put together."""

from execnodes.core.changelog import RETRACT
from execnodes.core.connectors import FormatDeclaration, Takes

FORMAT = FormatDeclaration("canal-json", gives=RETRACT, takes=Takes.CHANGES)
