"""Migrations of savepoints, one a module: functions over a `Workspace` that log what they do to each state."""
