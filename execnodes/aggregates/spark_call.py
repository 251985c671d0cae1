"""A call as Spark SQL: the parts that the texts of functions are made of."""

from __future__ import annotations

from execnodes.common.batch import ARRIVAL
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType


class SparkCall:
    """One call over columns c0, c1, …."""

    def __init__(self, call: AggregateCall, arg: LogicalType | None, function: str, window: str | None) -> None:
        """`arg`: type of the first argument, None for COUNT(*); `window`: the text behind OVER."""
        self.window = f" OVER ({window})" if window is not None else ""
        self.call = call
        self.arg = arg
        self.function = function
        self.value = f"c{call.arg_list[0]}" if call.arg_list else "1"

    def over(
        self,
        function: str,
        value: str | None = None,
        *,
        before: str = "",
        behind: str = "",
        distinct: bool | None = None,
        where: str = "",
    ) -> str:
        """``sum(DISTINCT c1) FILTER (WHERE c2)``; `where` narrows the rows further.

        The function, which has other arguments `before` and `behind`, leaves rows out whose value is NULL.
        """
        only = "DISTINCT " if (self.call.distinct if distinct is None else distinct) else ""
        given = value or self.value
        parts = (f"c{self.call.filter_arg}" if self.call.filter_arg >= 0 else "", where)
        condition = " AND ".join(part for part in parts if part)
        if condition and self.window:
            # Spark has FILTER beside OVER since 4.2.
            given, condition = f"CASE WHEN {condition} THEN {given} END", ""
        filtered = f" FILTER (WHERE {condition})" if condition else ""
        return f"{function}({only}{before}{given}{behind}){filtered}{self.window}"

    def in_order(self, members: str, where: str = "") -> str:
        """Array of structs of `members`, a list of named values, in the order in which the rows came."""
        struct = f"named_struct('at', {ARRIVAL}, {members})"
        return sorted_text(self.over("collect_list", struct, distinct=False, where=where))

    def values(self, *, nulls: bool) -> str:
        """Array of the values in order; of equal ones the first with DISTINCT."""
        where = "" if nulls else f"{self.value} IS NOT NULL"
        member = f"'v', {self.value}"
        found = f"transform({self.in_order(member, where)}, e -> e.v)"
        return f"array_distinct({found})" if self.call.distinct else found


def sorted_text(structs: str) -> str:
    """An array of structs sorted by their member `at` alone: the others may be maps, which Spark does not compare."""
    return f"array_sort({structs}, (l, r) -> CASE WHEN l.at < r.at THEN -1 WHEN l.at > r.at THEN 1 ELSE 0 END)"


def unless_empty(array: str) -> str:
    """An array, NULL if it has no elements."""
    return f"CASE WHEN size({array}) > 0 THEN {array} END"
