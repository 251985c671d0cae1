"""batch-exec-window-table-function: 1 (since 1.0)."""

from execnodes.batch.window_table_function.v1 import BatchWindowTableFunction

__all__ = ["BatchWindowTableFunction"]
