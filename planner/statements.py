"""The statements of a script, parsed but not yet looked up in a catalog. `text` is the SQL, `position` its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Tag

from execnodes.core.errors import Position
from planner.syntax import NOWHERE, Expr, Hint, Query

Path = tuple[str, ...]
"""A dotted name as written: one to three parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Any statement."""

    text: str = field(default="", compare=False)
    """Its SQL, without the semicolon."""
    position: Position = field(default=NOWHERE, compare=False)
    """Of its first word in the script."""


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] VIEW; `query_text` is the query's SQL, `query_start` its offset in the script."""

    path: Path
    query: Query
    query_text: str
    query_start: int
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """CREATE [TEMPORARY [SYSTEM]] FUNCTION name AS 'class' LANGUAGE PYTHON."""

    path: Path
    class_name: str
    language: str = "JAVA"
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterFunction(Statement):
    """ALTER [TEMPORARY [SYSTEM]] FUNCTION [IF EXISTS] name AS 'class' LANGUAGE PYTHON."""

    path: Path
    class_name: str
    language: str = "JAVA"
    temporary: bool = False
    system: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateCatalog(Statement):
    """CREATE CATALOG name WITH (…)."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    comment: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterCatalog(Statement):
    """ALTER CATALOG name SET (…) | RESET (…) | COMMENT '…'."""

    name: str
    set_options: tuple[tuple[str, str], ...] = ()
    reset_options: tuple[str, ...] = ()
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class AlterDatabase(Statement):
    """ALTER DATABASE [catalog.]name SET (…)."""

    path: Path
    set_options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    """CREATE DATABASE [catalog.]name WITH (…)."""

    path: Path
    options: tuple[tuple[str, str], ...] = ()
    comment: str | None = None
    if_not_exists: bool = False


ObjectKind = Tag["TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE"]


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """DROP [TEMPORARY [SYSTEM]] kind [IF EXISTS] name [CASCADE]."""

    kind: ObjectKind
    path: Path
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class AlterView(Statement):
    """ALTER VIEW … AS query; as `CreateView`."""

    path: Path
    query: Query
    query_text: str
    query_start: int
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Use(Statement):
    """USE [CATALOG] name."""

    kind: Tag["CATALOG", "DATABASE"]
    path: Path


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """SHOW what [FROM path] [[NOT] LIKE | ILIKE pattern], e.g. ``TABLES``, ``CURRENT CATALOG``, ``CREATE TABLE``."""

    what: str
    path: Path = ()
    like: str | None = None
    negated: bool = False
    ignores_case: bool = False
    """ILIKE was written."""


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """DESCRIBE a table or view."""

    path: Path


@dataclass(frozen=True, slots=True)
class DescribeCatalog(Statement):
    """DESCRIBE CATALOG [EXTENDED] name."""

    name: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeFunction(Statement):
    """DESCRIBE FUNCTION [EXTENDED] name."""

    path: Path
    extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeJob(Statement):
    """DESCRIBE JOB 'id'."""

    job: str


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """SET 'key' = 'value'; without key a listing."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class ResetOption(Statement):
    """RESET 'key'; without key all."""

    key: str | None = None


ConflictStrategy = Tag["DEDUPLICATE", "NOTHING", "ERROR"]


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """INSERT INTO | OVERWRITE target [(columns)] query [ON CONFLICT DO …]."""

    target: Path
    query: Query
    columns: tuple[str, ...] = ()
    on_conflict: ConflictStrategy | None = None
    overwrite: bool = False
    partition: tuple[tuple[str, Expr], ...] = ()
    """PARTITION (column = value, …)."""
    hints: tuple[Hint, ...] = ()
    target_position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """EXECUTE STATEMENT SET BEGIN … END, and the same behind EXPLAIN and COMPILE PLAN."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True)
class BeginStatementSet(Statement):
    """BEGIN STATEMENT SET alone: the INSERTs up to END are other statements."""


@dataclass(frozen=True, slots=True)
class EndStatementSet(Statement):
    """END of a statement set that was begun before."""


@dataclass(frozen=True, slots=True)
class QueryStatement(Statement):
    """A SELECT (or VALUES, WITH) on its own."""

    query: Query


Body = Insert | StatementSet | QueryStatement
"""What can be compiled."""


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """EXPLAIN [details] target."""

    target: Body
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompilePlan(Statement):
    """COMPILE PLAN 'file' [IF NOT EXISTS] [FROM 'old file'] FOR body; the body may be absent behind FROM."""

    path: str
    body: Body | None = None
    from_plan: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class ExecutePlan(Statement):
    """EXECUTE PLAN 'file'."""

    path: str


@dataclass(frozen=True, slots=True)
class CompileAndExecutePlan(Statement):
    """COMPILE AND EXECUTE PLAN 'file' FOR body."""

    path: str
    body: Body


@dataclass(frozen=True, slots=True)
class ExplainPlan(Statement):
    """EXPLAIN [details] PLAN 'file'."""

    path: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropPlan(Statement):
    """DROP PLAN [IF EXISTS] 'file'."""

    path: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class StopJob(Statement):
    """STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]."""

    job: str
    savepoint: bool = False
    drain: bool = False


@dataclass(frozen=True, slots=True)
class LoadModule(Statement):
    """LOAD MODULE name [WITH (…)]."""

    name: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UnloadModule(Statement):
    """UNLOAD MODULE name."""

    name: str


@dataclass(frozen=True, slots=True)
class UseModules(Statement):
    """USE MODULES name, …."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddJar(Statement):
    """ADD JAR 'file'."""

    path: str
