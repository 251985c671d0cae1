"""parquet: its files say which values stand in their parts."""

from execnodes.core.connectors import FormatDeclaration

FORMAT = FormatDeclaration("parquet", columnar=True)
