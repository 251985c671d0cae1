"""What each kind of statement does; one function a kind, chosen by its class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import OptionError, PlanError, SqlError
from execnodes.core.options import OPTIONS, SPARK_PREFIX, find
from execnodes.core.secrets import masked_options
from planner import ddl
from planner.statements import (
    AddJar,
    BeginStatementSet,
    CompileAndExecutePlan,
    CompilePlan,
    Describe,
    DescribeCatalog,
    DescribeFunction,
    DescribeJob,
    DropPlan,
    EndStatementSet,
    ExecutePlan,
    Explain,
    ExplainPlan,
    Insert,
    QueryStatement,
    ResetOption,
    SetOption,
    Show,
    Statement,
    StatementSet,
    StopJob,
)
from planner.table_statements import ExplainCreateTable
from rekindle.files.paths import local_path
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.results.table_result import TableResult
from rekindle.statements.describe_function import describe_function
from rekindle.statements.evolution import lines
from rekindle.statements.show import describe, describe_catalog, show

if TYPE_CHECKING:
    from rekindle.statements.session import Session


@singledispatch
def execute(statement: Statement, environment: Session) -> TableResult:
    """Execute a statement; the default is DDL."""
    result = ddl.execute(statement, environment.catalog, environment.configuration)
    return execute(result.insert, environment) if result.insert is not None else TableResult()


@execute.register(Insert)
@execute.register(StatementSet)
@execute.register(QueryStatement)
def _(statement: Insert | StatementSet | QueryStatement, environment: Session) -> TableResult:
    if environment.open_inserts is not None and isinstance(statement, Insert):
        environment.open_inserts.append(statement)
        return TableResult(message="Added to the statement set.")
    # Every run goes through the plan's JSON: `compile_body` gives what was read back from it.
    return environment.execute_plan(environment.compile_body(statement))


@execute.register(BeginStatementSet)
def _(statement: BeginStatementSet, environment: Session) -> TableResult:
    environment.open_inserts = []
    return TableResult(message="The statement set is open: write its INSERTs, then END.")


@execute.register(EndStatementSet)
def _(statement: EndStatementSet, environment: Session) -> TableResult:
    inserts, environment.open_inserts = environment.open_inserts, None
    if not inserts:
        what = "no statement set is open" if inserts is None else "the statement set has no INSERT"
        raise SqlError(what, position=statement.position, hint="Write BEGIN STATEMENT SET, INSERTs, and END.")
    text = ";\n".join(each.text for each in inserts)
    return execute(StatementSet(tuple(inserts), text=text, position=statement.position), environment)


def require_insert(statement: Statement, environment: Session) -> None:
    """SqlError for what an open statement set cannot have."""
    if environment.open_inserts is not None and not isinstance(statement, Insert | EndStatementSet):
        hint = "Write END first."
        raise SqlError("a statement set has only INSERTs", position=statement.position, hint=hint)


@contextmanager
def _at(statement: Statement) -> Iterator[None]:
    """Errors of options inside are at the place of the statement."""
    try:
        yield
    except OptionError as error:
        error.position = error.position or statement.position
        raise


@execute.register(SetOption)
def _(statement: SetOption, environment: Session) -> TableResult:
    configuration = environment.configuration
    if statement.key is not None:
        with _at(statement):
            configuration.put(statement.key, statement.value or "")
        return TableResult()
    defaults = {key: option.default for key, option in OPTIONS.items()}
    return TableResult(columns=("key", "value"), rows=sorted(masked_options({**defaults, **configuration}).items()))


@execute.register(ResetOption)
def _(statement: ResetOption, environment: Session) -> TableResult:
    if statement.key is None:
        environment.configuration.clear()
    elif statement.key.startswith(SPARK_PREFIX):
        environment.configuration.pop(statement.key, None)
    else:
        with _at(statement):
            environment.configuration.pop(find(statement.key).key, None)
    return TableResult()


@execute.register(Show)
def _(statement: Show, environment: Session) -> TableResult:
    if statement.what == "JOBS":
        from rekindle.statements.jobs import show_jobs

        return show_jobs(environment)
    columns, rows = show(statement, environment.catalog, environment.configuration)
    return TableResult(columns=columns, rows=rows)


@execute.register(Describe)
def _(statement: Describe, environment: Session) -> TableResult:
    columns, rows = describe(statement, environment.catalog, environment.configuration)
    return TableResult(columns=columns, rows=rows)


@execute.register(DescribeCatalog)
def _(statement: DescribeCatalog, environment: Session) -> TableResult:
    columns, rows = describe_catalog(statement, environment.catalog)
    return TableResult(columns=columns, rows=rows)


@execute.register(DescribeFunction)
def _(statement: DescribeFunction, environment: Session) -> TableResult:
    columns, rows = describe_function(statement, environment.catalog)
    return TableResult(columns=columns, rows=rows)


@execute.register(Explain)
def _(statement: Explain, environment: Session) -> TableResult:
    text = environment.compile_body(statement.target).explain(*statement.details)
    return TableResult(columns=("result",), rows=[(text,)])


@execute.register(ExplainCreateTable)
def _(statement: ExplainCreateTable, environment: Session) -> TableResult:
    with ddl.plan_insert(statement.target, environment.catalog, environment.configuration) as insert:
        text = environment.compile_body(insert).explain(*statement.details)
    return TableResult(columns=("result",), rows=[(text,)])


@execute.register(ExplainPlan)
def _(statement: ExplainPlan, environment: Session) -> TableResult:
    text = environment.load_plan(statement.path).explain(*statement.details)
    return TableResult(columns=("result",), rows=[(text,)])


@execute.register(CompilePlan)
def _(statement: CompilePlan, environment: Session) -> TableResult:
    force = environment.configuration.flag("table.plan.force-recompile")
    if local_path(statement.path).exists() and statement.if_not_exists and not force:
        return TableResult(message="The plan exists already; it was left as it is.")
    if statement.from_plan is not None and statement.body is None:
        upgraded = environment.upgrade_plan(statement.from_plan)
        upgraded.plan.write_to_file(statement.path, ignore_if_exists=False, force=force)
        return TableResult(message="\n".join([f"Plan written to {statement.path}.", *upgraded.lines()]))
    assert statement.body is not None
    plan = environment.compile_body(statement.body, from_plan=statement.from_plan)
    plan.write_to_file(statement.path, ignore_if_exists=False, force=force)
    return TableResult(message="\n".join([f"Plan written to {statement.path}.", *_fates(plan), *unkept_lines(plan)]))


def unkept_lines(plan: CompiledPlan) -> list[str]:
    """What a plan does not keep of the options that were set when it was compiled."""
    return [f"not kept: {', '.join(plan.unkept)} (of a session, not of a plan)"] if plan.unkept else []


def _fates(plan: CompiledPlan) -> list[str]:
    """Of a plan made from another one: its verdict, and what is lost."""
    if plan.comparison is None:
        return []
    notes = (f"note: {each}" for each in plan.comparison.remarks)
    return [f"Verdict: {plan.comparison.verdict}.", *lines(plan.comparison), *notes]


@execute.register(ExecutePlan)
def _(statement: ExecutePlan, environment: Session) -> TableResult:
    return environment.execute_plan(statement.path)


@execute.register(CompileAndExecutePlan)
def _(statement: CompileAndExecutePlan, environment: Session) -> TableResult:
    force = environment.configuration.flag("table.plan.force-recompile")
    if force or not local_path(statement.path).exists():
        environment.compile_body(statement.body).write_to_file(statement.path, ignore_if_exists=False, force=force)
    return environment.execute_plan(statement.path)


@execute.register(DropPlan)
def _(statement: DropPlan, environment: Session) -> TableResult:
    path: Path = local_path(statement.path)
    if not path.is_file():
        if statement.if_exists:
            return TableResult(message="There was no such plan.")
        raise PlanError("there is no such plan file", where=str(path), hint="Write DROP PLAN IF EXISTS to allow that.")
    environment.load_plan(path)  # Only plans are dropped, no other files.
    path.unlink()
    return TableResult()


@execute.register(DescribeJob)
def _(statement: DescribeJob, environment: Session) -> TableResult:
    from rekindle.statements.jobs import describe_job

    return describe_job(statement, environment)


@execute.register(StopJob)
def _(statement: StopJob, environment: Session) -> TableResult:
    from rekindle.statements.jobs import stop_job

    return stop_job(statement, environment)


@execute.register(AddJar)
def _(statement: Statement, environment: Session) -> TableResult:
    raise SqlError(
        "ADD JAR is not supported",
        position=statement.position,
        hint="Functions and connectors of Rekindle are part of it.",
    )
