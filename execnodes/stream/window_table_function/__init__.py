"""stream-exec-window-table-function: 1 (since 1.0)."""

from execnodes.stream.window_table_function.v1 import WindowTableFunction

__all__ = ["WindowTableFunction"]
