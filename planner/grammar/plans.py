"""EXPLAIN, EXECUTE, COMPILE PLAN and what else deals with plans and jobs; each first word is taken."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from planner import statements as s
from planner.grammar import statements as grammar
from planner.grammar.cursor import Cursor

_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


def explain(cursor: Cursor) -> s.Statement:
    """EXPLAIN [details | PLAN FOR] target, EXPLAIN [details] PLAN 'file'."""
    details: tuple[str, ...] = ()
    if cursor.at_any(*_DETAILS):
        details = cursor.listed(lambda: _detail(cursor))
    if cursor.at("PLAN") and not cursor.at("PLAN", "FOR"):
        cursor.advance()
        return s.ExplainPlan(cursor.text("a plan file"), details)
    cursor.accept("PLAN", "FOR")
    return s.Explain(grammar.body(cursor), details)


def _detail(cursor: Cursor) -> str:
    if not cursor.at_any(*_DETAILS):
        raise cursor.error(f"expected one of {', '.join(_DETAILS)}")
    return cursor.advance().upper


def execute(cursor: Cursor) -> s.Statement:
    """EXECUTE PLAN 'file', EXECUTE STATEMENT SET BEGIN … END, EXECUTE INSERT …."""
    if cursor.accept("PLAN"):
        return s.ExecutePlan(cursor.text("a plan file"))
    if cursor.accept("STATEMENT", "SET"):
        cursor.expect("BEGIN")
        return grammar.statement_set(cursor)
    return grammar.body(cursor)


def compile_plan(cursor: Cursor) -> s.Statement:
    """COMPILE PLAN 'file' …, COMPILE AND EXECUTE PLAN 'file' FOR …."""
    if cursor.accept("AND"):
        cursor.expect("EXECUTE", "PLAN")
        path = cursor.text("a plan file")
        cursor.expect("FOR")
        return s.CompileAndExecutePlan(path, grammar.body(cursor))
    cursor.expect("PLAN")
    path = cursor.text("a plan file")
    exists = cursor.accept("IF", "NOT", "EXISTS")
    origin = cursor.text("a plan file") if cursor.accept("FROM") else None
    if origin is not None and not cursor.at("FOR"):
        return s.CompilePlan(path, None, origin, exists)
    cursor.expect("FOR")
    return s.CompilePlan(path, grammar.body(cursor), origin, exists)


def drop_plan(cursor: Cursor) -> s.Statement:
    """DROP PLAN [IF EXISTS] 'file'; PLAN is taken."""
    exists = cursor.accept("IF", "EXISTS")
    return s.DropPlan(cursor.text("a plan file"), exists)


def stop(cursor: Cursor) -> s.Statement:
    """STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]."""
    cursor.expect("JOB")
    job = cursor.text("a job's id")
    savepoint = drain = False
    while cursor.accept("WITH"):
        here = cursor.here
        if cursor.accept("SAVEPOINT"):
            savepoint = True
            continue
        cursor.expect("DRAIN")
        drain = True
        if not savepoint:
            hint = "Write STOP JOB 'id' WITH SAVEPOINT WITH DRAIN."
            raise SqlError("WITH DRAIN goes only with a savepoint", position=here, hint=hint)
    return s.StopJob(job, savepoint, drain)
