"""EXPLAIN, EXECUTE, COMPILE PLAN and what else deals with plans and jobs; each first word is taken."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.explain_details import DETAILS
from planner import statements as s
from planner.sql.create import create
from planner.sql.inserts import body, statement_set
from planner.sql.script import Script
from planner.table_statements import CreateTable, ExplainCreateTable


def explain(script: Script) -> s.Statement:
    """EXPLAIN [details | PLAN FOR] target, EXPLAIN [details] PLAN 'file'."""
    details: tuple[str, ...] = ()
    if script.at_any(*DETAILS):
        details = script.listed(lambda: _detail(script))
    if script.at("PLAN") and not script.at("PLAN", "FOR"):
        script.take()
        return s.ExplainPlan(script.text("a plan file"), details)
    script.accept("PLAN", "FOR")
    position, start = script.here, script.offset
    if script.at("CREATE"):
        script.take()
        created = create(script)
        if not isinstance(created, CreateTable) or created.query is None:
            raise SqlError("EXPLAIN of a CREATE requires AS SELECT", position=position)
        target = replace(created, text=script.source.text[start : script.end], position=position)
        return ExplainCreateTable(target, details)
    if script.accept("EXECUTE") and script.at("STATEMENT"):
        script.expect("STATEMENT", "SET", "BEGIN")
        found = statement_set(script)
        return s.Explain(replace(found, text=script.source.text[start : script.end], position=position), details)
    return s.Explain(body(script), details)


def _detail(script: Script) -> str:
    if not script.at_any(*DETAILS):
        raise script.error(f"expected one of {', '.join(DETAILS)}")
    return script.take().text.upper()


def execute(script: Script) -> s.Statement:
    """EXECUTE PLAN 'file', EXECUTE STATEMENT SET BEGIN … END, EXECUTE INSERT …."""
    if script.accept("PLAN"):
        return s.ExecutePlan(script.text("a plan file"))
    if script.accept("STATEMENT", "SET"):
        script.expect("BEGIN")
        return statement_set(script)
    return body(script)


def compile_plan(script: Script) -> s.Statement:
    """COMPILE PLAN 'file' …, COMPILE AND EXECUTE PLAN 'file' FOR …."""
    if script.accept("AND"):
        script.expect("EXECUTE", "PLAN")
        path = script.text("a plan file")
        script.expect("FOR")
        return s.CompileAndExecutePlan(path, body(script))
    script.expect("PLAN")
    path = script.text("a plan file")
    exists = script.accept("IF", "NOT", "EXISTS")
    origin = script.text("a plan file") if script.accept("FROM") else None
    if origin is not None and not script.at("FOR"):
        return s.CompilePlan(path, None, origin, exists)
    script.expect("FOR")
    return s.CompilePlan(path, body(script), origin, exists)


def drop_plan(script: Script) -> s.Statement:
    """DROP PLAN [IF EXISTS] 'file'; PLAN is taken."""
    exists = script.accept("IF", "EXISTS")
    return s.DropPlan(script.text("a plan file"), exists)


def stop(script: Script) -> s.Statement:
    """STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]."""
    script.expect("JOB")
    job = script.text("a job's id")
    savepoint = drain = False
    while script.accept("WITH"):
        here = script.here
        if script.accept("SAVEPOINT"):
            savepoint = True
            continue
        script.expect("DRAIN")
        drain = True
        if not savepoint:
            hint = "Write STOP JOB 'id' WITH SAVEPOINT WITH DRAIN."
            raise SqlError("WITH DRAIN goes only with a savepoint", position=here, hint=hint)
    return s.StopJob(job, savepoint, drain)
