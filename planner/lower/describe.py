"""Descriptions of nodes in Flink's style: what explain shows and plans keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal as Tag

from execnodes.core.expressions import AggregateCall, Expression, InputRef, digest, user_calls
from execnodes.core.types import LogicalType

CalcTitle = Tag["Calc", "PythonCalc", "PythonAsyncCalc"]


def names_of(type: LogicalType, indexes: Iterable[int] | None = None) -> tuple[str, ...]:
    """Names of all columns of a row type, or of some of them."""
    return (
        tuple(field.name for field in type.fields) if indexes is None else tuple(type.fields[i].name for i in indexes)
    )


def listed(parts: Iterable[str]) -> str:
    """``[a, b]``."""
    return f"[{', '.join(parts)}]"


def described(operator: str, *parts: tuple[str, str | None]) -> str:
    """``Calc(select=[k], where=[(v > 3)])``; parts without a text are left out."""
    inner = ", ".join(f"{name}={text}" for name, text in parts if text is not None)
    return f"{operator}({inner})" if inner else operator


def selected(expressions: Sequence[Expression], output: LogicalType, names: tuple[str, ...]) -> str:
    """``[k, (v + 1) AS w]``."""
    parts = []
    for each, field in zip(expressions, output.fields, strict=True):
        text = digest(each, names)
        plain = isinstance(each, InputRef) and text == field.name
        parts.append(text if plain else f"{text} AS {field.name}")
    return listed(parts)


def calc_title(expressions: Iterable[Expression]) -> CalcTitle:
    """What projects and filters by these: the node shows where functions of the user run, and which of them wait."""
    calls = [call for each in expressions for call in user_calls(each)]
    return "PythonAsyncCalc" if any(call.waits for call in calls) else "PythonCalc" if calls else "Calc"


def aggregated(call: AggregateCall, names: tuple[str, ...], retract: bool) -> str:
    """``SUM_RETRACT(DISTINCT v) FILTER $f2 AS s``."""
    function = call.title + ("_RETRACT" if retract and not call.user_name else "")
    args = ", ".join(names[each] for each in call.arg_list) or "*"
    distinct = "DISTINCT " if call.distinct else ""
    condition = f" FILTER {names[call.filter_arg]}" if call.filter_arg >= 0 else ""
    return f"{function}({distinct}{args}){condition} AS {call.name}"


def grouped(grouping: Sequence[int], names: tuple[str, ...]) -> str | None:
    """``[k]``; None without keys."""
    return listed(names[each] for each in grouping) if grouping else None
