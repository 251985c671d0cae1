"""CAST and TRY_CAST since 1.5: texts are times as Flink reads them, and TRY_CAST fails as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.types import NESTED, LogicalType, Root
from execnodes.functions.casts import CAST, TRY_CAST, cast_members, cast_millis, cast_text
from execnodes.functions.conversion import has_version_2, reads_text, reads_time
from execnodes.functions.read_times import read_as
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import quote

Cast = Callable[[Scope, str, LogicalType, LogicalType, bool], str]
"""The text of a value cast from a type to another one, strictly or not."""


def lower_by(cast: Cast, *, strict: bool) -> Callable[[Scope, Call], str]:
    """What lowers a call whose values and members are cast by `cast`."""

    def lower(scope: Scope, call: Call) -> str:
        (operand,) = call.operands
        return _cast_whole(scope, scope.text(operand), operand.type, call.type, strict, cast)

    return lower


def _cast_whole(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool, cast: Cast) -> str:
    """Spark SQL of `text` cast by `cast`; not `strict`: NULL if any member cannot be read."""
    if strict or source.root not in NESTED:
        return cast(scope, text, source, target, strict)

    def body(t: str) -> str:
        fails, made = _fails(scope, t, source, target, cast), cast(scope, t, source, target, False)
        return made if fails is None else f"if({fails}, CAST(NULL AS {spark_type(target)}), {made})"

    return scope.share(text, body)


def _cast(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """Text is read as times as Flink does, at any depth; NULL as a whole if a member of a TRY_CAST cannot be read.

    Version 2 took hours, minutes and seconds beyond their range, and gave collections with NULL for such members.
    """
    return cast_leaf(scope, text, source, target, strict, _cast)


def cast_leaf(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool, cast: Cast) -> str:
    """Spark SQL of `text` cast by version 3, its members by `cast`."""
    if source.same_values(target):
        return text
    if source.root in NESTED and target.root in NESTED:
        return cast_members(scope, text, source, target, lambda t, a, b: cast(scope, t, a, b, strict))
    if reads_time(source, target):
        return scope.share(text, lambda t: read_as(scope, t, target, strict))
    if has_version_2(source, target):
        return cast_millis(scope, text, source, target, strict)
    return cast_text(scope, text, source, target, strict)


def _fails(scope: Scope, text: str, source: LogicalType, target: LogicalType, cast: Cast) -> str | None:
    """A condition for `text` to have a member that cannot be read; None if all can be."""
    if not reads_text(source, target):
        return None
    if source.root is Root.ROW:
        pairs = zip(source.fields, target.fields, strict=True)
        conditions = [_fails(scope, f"{text}.{quote(a.name)}", a.type, b.type, cast) for a, b in pairs]
        return f"({' OR '.join(each for each in conditions if each is not None)})"
    if source.root not in NESTED:
        return f"({text} IS NOT NULL AND {cast(scope, text, source, target, False)} IS NULL)"
    if source.root is Root.ARRAY:
        return _any_fails(scope, text, source.element, target.element, cast)
    if source.root is Root.MULTISET:
        return _any_fails(scope, f"map_keys({text})", source.element, target.element, cast)
    keys = _any_fails(scope, f"map_keys({text})", source.key, target.key, cast)
    values = _any_fails(scope, f"map_values({text})", source.element, target.element, cast)
    return f"({' OR '.join(each for each in (keys, values) if each is not None)})"


def _any_fails(scope: Scope, array: str, source: LogicalType, target: LogicalType, cast: Cast) -> str | None:
    member = scope.fresh()
    condition = _fails(scope, member, source, target, cast)
    return None if condition is None else f"exists({array}, {member} -> {condition})"


CAST_3 = replace(CAST, lower=lower_by(_cast, strict=True), version=3, since="1.5")
TRY_CAST_3 = replace(TRY_CAST, lower=lower_by(_cast, strict=False), version=3, since="1.5")
