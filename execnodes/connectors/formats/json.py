"""json: records of rows that are inserted."""

from execnodes.core.connectors import FormatDeclaration

FORMAT = FormatDeclaration("json")
