"""The one statement of a script that can be compiled, after those in front of it have been executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from execnodes.core.errors import SqlError
from planner import ddl
from planner.statements import Body, Statement
from planner.table_statements import CreateTable
from rekindle.statements.execute import execute

if TYPE_CHECKING:
    from rekindle.statements.session import Session


def script_body(script: Sequence[Statement], session: Session) -> Body:
    """Run a script's DDL and SETs, and give its INSERT (of CREATE TABLE AS, too), statement set or query.

    What stands behind that has no part in it, as where the statements are executed one by one, and is not run.
    """
    bodies: list[Body] = []
    for statement in script:
        if isinstance(statement, Body):
            bodies.append(statement)
        elif bodies and not (isinstance(statement, CreateTable) and statement.query is not None):
            continue
        elif isinstance(statement, CreateTable):
            insert = ddl.execute(statement, session.catalog, session.configuration).insert
            bodies += [] if insert is None else [insert]
        else:
            execute(statement, session)
    if len(bodies) != 1:
        where = bodies[1].position if bodies else None
        raise SqlError(
            f"a script to compile has one INSERT, statement set or query; this one has {len(bodies)}",
            position=where,
            hint="Put several INSERTs into EXECUTE STATEMENT SET BEGIN … END.",
        )
    return bodies[0]
