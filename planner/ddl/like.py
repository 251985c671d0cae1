"""What a table takes over from the table behind LIKE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from execnodes.core.errors import SqlError
from execnodes.core.expressions import input_indexes
from execnodes.core.tables import Column, PersistedExpression, PrimaryKey, ResolvedTable
from planner import table_statements as t
from planner.parse import parse_expression

P = TypeVar("P")


@dataclass(frozen=True)
class Inherited:
    """The parts taken over. Expressions are to be typed anew: what they read may be a key here, and so NOT NULL."""

    columns: tuple[Column, ...]
    """In plain roles: which one is event time is said by the watermark."""
    watermarks: tuple[t.Watermark, ...]
    primary_key: PrimaryKey | None
    partition_keys: tuple[str, ...]
    options: dict[str, str]


def merge_like(statement: t.CreateTable, like: t.Like, base: ResolvedTable) -> Inherited:
    """Parts of `base` that the LIKE clause lets in; SqlError where both tables give the same part."""
    choice = _Choice(like)
    schema = base.table_schema
    columns = _columns(statement, choice, schema.columns)
    watermarks = choice.part("WATERMARKS", bool(statement.watermarks), schema.watermark_specs, ())
    options = base.options or {}
    if choice.of("OPTIONS") == "INCLUDING":
        for key, _ in statement.options:
            if key in options:
                raise choice.conflict(f"both tables give the option {key!r}", "OPTIONS")
    for expression in (*(each.expression for each in columns), *(each.expression for each in watermarks)):
        if expression is not None:
            _check_kept(expression, schema.columns, columns, like)
    return Inherited(
        tuple(each.model_copy(update={"data_type": each.data_type.regular()}) for each in columns),
        tuple(t.Watermark((each.rowtime_attribute,), written(each.expression), like.position) for each in watermarks),
        choice.part("CONSTRAINTS", bool(statement.keys), schema.primary_key, None),
        choice.part("PARTITIONS", bool(statement.partitioned_by), base.partition_keys, ()),
        {} if choice.of("OPTIONS") == "EXCLUDING" else dict(options),
    )


class _Choice:
    """What becomes of each feature; by default all is taken over and options of the new table win."""

    def __init__(self, like: t.Like) -> None:
        self._given = dict(like.options)
        self._like = like

    def of(self, feature: str) -> str:
        """INCLUDING, EXCLUDING or OVERWRITING."""
        default = "OVERWRITING" if feature == "OPTIONS" else "INCLUDING"
        return self._given.get(feature, self._given.get("ALL", default))

    def part(self, feature: str, own: bool, base: P, none: P) -> P:
        """What is taken over of the base table's part; `own` says that the new table has such a part."""
        if not base or self.of(feature) == "EXCLUDING":
            return none
        if own and self.of(feature) == "INCLUDING":
            raise self.conflict(f"both tables have {feature.lower()}", feature)
        return none if own else base

    def conflict(self, message: str, feature: str) -> SqlError:
        """An error about a part that both tables give."""
        hint = f"Write LIKE … (EXCLUDING {feature}) or (OVERWRITING {feature})."
        return SqlError(message, position=self._like.position, hint=hint)


def _columns(statement: t.CreateTable, choice: _Choice, columns: tuple[Column, ...]) -> list[Column]:
    features = {"COMPUTED": "GENERATED", "METADATA": "METADATA"}
    own = {column.name: column for column in statement.columns}
    kept = []
    for column in columns:
        feature = features.get(column.kind)
        if feature is not None and choice.of(feature) == "EXCLUDING":
            continue
        if column.name in own:
            if feature is None or choice.of(feature) != "OVERWRITING":
                raise SqlError(
                    f"the table behind LIKE has a column '{column.name}' already", position=own[column.name].position
                )
            continue
        kept.append(column)
    return kept


def _check_kept(expression: PersistedExpression, before: tuple[Column, ...], after: list[Column], like: t.Like) -> None:
    names = {column.name for column in after}
    for index in input_indexes(expression.rex_node):
        if before[index].name not in names:
            raise SqlError(
                f"'{expression.serializable_string}' reads the column '{before[index].name}', which LIKE leaves out",
                position=like.position,
                hint="Take that column over, or leave out what reads it.",
            )


def written(expression: PersistedExpression) -> t.WrittenExpression:
    """The expression of a column or a watermark as it was written, to be typed over other columns."""
    return t.WrittenExpression(parse_expression(expression.serializable_string), expression.serializable_string)
