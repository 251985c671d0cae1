"""Statements of SQL that change rows: UPDATE, DELETE, INSERT, MERGE."""

from __future__ import annotations

from execnodes.core.errors import StateError
from rekindle.connectors.duckdb_sql import quoted
from rekindle.savepoints.database import view
from rekindle.savepoints.file_columns import distinct_names, file_columns
from rekindle.savepoints.verify import fitted
from rekindle.savepoints.workspace import Draft, Workspace

_KINDS = ("UPDATE", "DELETE", "INSERT", "MERGE_INTO")


def edit(work: Workspace, sql: str) -> None:
    """Run statements over the states as tables ``"UID"."NAME"``; changed states are written anew.

    The tables have the types of the files (`rekindle.savepoints.file_columns`); schema and keys stay as they are.
    """
    statements = work.connection.extract_statements(sql)
    kinds = [str(each.type).rpartition(".")[2] for each in statements]
    if not kinds or any(each not in _KINDS for each in kinds):
        raise StateError("only UPDATE, DELETE, INSERT and MERGE change a state", hint=f"Given: {', '.join(kinds)}")
    named = [each for each in work.drafts.values() if each.state.name.lower() in sql.lower()]
    for each in named:
        work.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(each.state.uid)}")
        work.connection.execute(f"CREATE TABLE {view(each.state)} AS {each.rows}")
    try:
        for statement in statements:
            work.connection.execute(statement.query)
        changed = 0
        for each in named:
            changed += _take_over(work, each)
    finally:
        for each in named:
            work.connection.execute(f"DROP TABLE {view(each.state)}")
    if not changed:
        raise StateError("the statements change no row", hint='States are tables such as "4_join"."leftState".')


def _take_over(work: Workspace, draft: Draft) -> bool:
    """Whether a state has changed; then its rows are those of its table."""
    columns = ", ".join(map(quoted, distinct_names(file_columns(draft.state))))
    rows = f"SELECT {columns} FROM {view(draft.state)}"
    count = "SELECT count(*) FROM ({} EXCEPT ALL {})"
    gone, come = (
        work.connection.execute(count.format(*pair)).fetchall()[0][0]
        for pair in ((f"({draft.rows})", f"({rows})"), (f"({rows})", f"({draft.rows})"))
    )
    if not gone and not come:
        return False
    with work.step("edit", draft, f"{gone:,} rows out, {come:,} in") as after:
        made = work.write(draft.state, fitted(work.connection, draft.state, rows))
        work.check_keys(draft, made)
        work.put(made)
        after.append(made)
    return True
