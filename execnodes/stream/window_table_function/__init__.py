"""stream-exec-window-table-function: 1 (since 1.0), 2 (since 1.3)."""

from execnodes.stream.window_table_function.v2 import WindowTableFunction

__all__ = ["WindowTableFunction"]
