"""Statements that define tables or change their definitions, and the parts that a definition has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Tag

from execnodes.core.errors import Position
from execnodes.core.types import LogicalType
from planner.statements import Path, Statement
from planner.syntax import NOWHERE, Expr, Query


@dataclass(frozen=True, slots=True)
class WrittenExpression:
    """An expression and its SQL text."""

    expr: Expr
    text: str


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """``name type`` and its clauses."""

    name: str
    type: LogicalType
    declared_nullable: bool = False
    """NULL was written."""
    primary_key: bool = False
    comment: str | None = None
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """``name type METADATA [FROM 'key'] [VIRTUAL]``."""

    name: str
    type: LogicalType
    key: str | None = None
    virtual: bool = False
    comment: str | None = None
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """``name AS expression``."""

    name: str
    expression: WrittenExpression
    comment: str | None = None
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Watermark:
    """``WATERMARK FOR column AS expression``; the column may be a field of a ROW."""

    column: Path
    expression: WrittenExpression
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class KeyConstraint:
    """``[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED``."""

    columns: tuple[str, ...]
    name: str | None = None
    position: Position = field(default=NOWHERE, compare=False)


ColumnDefinition = PhysicalColumn | MetadataColumn | ComputedColumn


@dataclass(frozen=True, slots=True)
class Like:
    """``LIKE table ( {INCLUDING | EXCLUDING | OVERWRITING} feature … )``."""

    source: Path
    options: tuple[tuple[str, str], ...] = ()
    """Feature (ALL, CONSTRAINTS, …) and what becomes of it."""
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] TABLE, also with LIKE or AS SELECT."""

    path: Path
    columns: tuple[ColumnDefinition, ...] = ()
    column_names: tuple[str, ...] = ()
    """Names only, in front of AS SELECT: the order of the new table's columns."""
    watermarks: tuple[Watermark, ...] = ()
    keys: tuple[KeyConstraint, ...] = ()
    comment: str | None = None
    partitioned_by: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    like: Like | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True)
class ExplainCreateTable(Statement):
    """EXPLAIN [details] CREATE TABLE … AS SELECT."""

    target: CreateTable
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterTable(Statement):
    """ALTER TABLE | VIEW … RENAME TO, ALTER TABLE … SET (…) or RESET (…)."""

    path: Path
    kind: Tag["TABLE", "VIEW"] = "TABLE"
    rename_to: Path | None = None
    set_options: tuple[tuple[str, str], ...] = ()
    reset_options: tuple[str, ...] = ()
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a column goes: FIRST, AFTER another one, or where it is (a new one last)."""

    first: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column's declaration and its place."""

    definition: ColumnDefinition
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class AddParts(Statement):
    """ALTER TABLE … ADD one part, or several in parentheses."""

    path: Path
    columns: tuple[PlacedColumn, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    keys: tuple[KeyConstraint, ...] = ()
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ModifyParts(AddParts):
    """ALTER TABLE … MODIFY: parts that are there already."""


@dataclass(frozen=True, slots=True)
class DropParts(Statement):
    """ALTER TABLE … DROP columns, PRIMARY KEY, CONSTRAINT name or WATERMARK."""

    path: Path
    columns: tuple[str, ...] = ()
    key: bool = False
    constraint: str | None = None
    watermark: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn(Statement):
    """ALTER TABLE … RENAME column TO column."""

    path: Path
    column: str
    to: str
    if_exists: bool = False


ChangeOfParts = AddParts | ModifyParts | DropParts | RenameColumn
