"""Column expressions of the Table API: a thin layer over SQL text, so that both roads meet in one planner."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol, Self, runtime_checkable

from execnodes.core.errors import SqlError
from execnodes.core.types import LogicalType
from planner.catalog.catalogs import quoted
from rekindle.api.expression_functions import NumberMethods, TextMethods
from rekindle.api.expression_structures import CollectionMethods, TimeMethods
from rekindle.api.json_methods import JsonMethods
from rekindle.api.operand import FunctionNames, Operand, WindowBound, list_pieces, value
from rekindle.api.search_methods import SearchMethods


@runtime_checkable
class Query(Protocol):
    """A `Table`."""

    @property
    def sql(self) -> str:
        """Its text."""
        ...


class Expression(NumberMethods, TextMethods, SearchMethods, JsonMethods, TimeMethods, CollectionMethods, is_whole=True):
    """An expression as SQL text; operators and methods build larger ones. Operands that are no expressions are
    constants.
    """

    def __call__(self, *operands: object) -> Self:
        """The same: what PyFlink has as a method without arguments may be a property here, ``array_max`` for one."""
        if operands:
            raise SqlError(
                f"{self!r} is called with {operands!r}, but takes nothing",
                hint="Write call('LTRIM', col('s'), 'x') for a function with more operands than its property has.",
            )
        return self

    def __add__(self, other: object) -> Self:
        return self._binary("+", other)

    def __radd__(self, other: object) -> Self:
        return self.joined("(", value(other), " + ", self, ")")

    def __sub__(self, other: object) -> Self:
        return self._binary("-", other)

    def __rsub__(self, other: object) -> Self:
        return self.joined("(", value(other), " - ", self, ")")

    def __mul__(self, other: object) -> Self:
        return self._binary("*", other)

    def __rmul__(self, other: object) -> Self:
        return self.joined("(", value(other), " * ", self, ")")

    def __truediv__(self, other: object) -> Self:
        return self._binary("/", other)

    def __rtruediv__(self, other: object) -> Self:
        return self.joined("(", value(other), " / ", self, ")")

    def __mod__(self, other: object) -> Self:
        return self._call("MOD", other)

    def __rmod__(self, other: object) -> Self:
        return self.joined("MOD(", value(other), ", ", self, ")")

    def __pow__(self, other: object) -> Self:
        return self._call("POWER", other)

    def __neg__(self) -> Self:
        return self.joined("(- ", self, ")")

    def __eq__(self, other: object) -> Self:  # type: ignore[override]  # builds a comparison, as in PyFlink
        return self._binary("=", other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]  # as above
        return self._binary("<>", other)

    def __lt__(self, other: object) -> Self:
        return self._binary("<", other)

    def __le__(self, other: object) -> Self:
        return self._binary("<=", other)

    def __gt__(self, other: object) -> Self:
        return self._binary(">", other)

    def __ge__(self, other: object) -> Self:
        return self._binary(">=", other)

    def __and__(self, other: object) -> Self:
        return self._binary("AND", other)

    def __rand__(self, other: object) -> Self:
        return self.joined("(", value(other), " AND ", self, ")")

    def __or__(self, other: object) -> Self:
        return self._binary("OR", other)

    def __ror__(self, other: object) -> Self:
        return self.joined("(", value(other), " OR ", self, ")")

    def __invert__(self) -> Self:
        return self.joined("(NOT ", self, ")")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise SqlError(
            f"{self!r} has no truth value in Python",
            hint="Write & | ~ instead of and, or, not; between(a, b) instead of a <= x <= b; in_ instead of in.",
        )

    def alias(self, name: str, *extra_names: str) -> Self:
        """``expression AS name``; several names are those of a table function's columns."""
        return type(self)(*self.pieces, names=(name, *extra_names), aggregate=self._aggregate)

    def cast(self, data_type: LogicalType | str) -> Self:
        """CAST to a type, e.g. ``DataTypes.INT()`` or ``"DECIMAL(10, 2)"``."""
        return self.joined("CAST(", self, f" AS {data_type})")

    def try_cast(self, data_type: LogicalType | str) -> Self:
        """As `cast`; NULL where a value cannot be."""
        return self.joined("TRY_CAST(", self, f" AS {data_type})")

    @property
    def asc(self) -> Self:
        """Ascending, in `order_by`."""
        return self.joined(self, " ASC")

    @property
    def desc(self) -> Self:
        """Descending, in `order_by`."""
        return self.joined(self, " DESC")

    @property
    def is_null(self) -> Self:
        """Whether there is no value; never NULL."""
        return self.joined("(", self, " IS NULL)")

    @property
    def is_not_null(self) -> Self:
        """Whether there is a value; never NULL."""
        return self.joined("(", self, " IS NOT NULL)")

    @property
    def is_true(self) -> Self:
        """Whether a condition holds; FALSE where it is unknown."""
        return self.joined("(", self, " IS TRUE)")

    @property
    def is_false(self) -> Self:
        """Whether a condition does not hold; FALSE where it is unknown."""
        return self.joined("(", self, " IS FALSE)")

    @property
    def is_not_true(self) -> Self:
        """TRUE where a condition is FALSE or unknown."""
        return self.joined("(", self, " IS NOT TRUE)")

    @property
    def is_not_false(self) -> Self:
        """TRUE where a condition is TRUE or unknown."""
        return self.joined("(", self, " IS NOT FALSE)")

    def between(self, lower_bound: object, upper_bound: object) -> Self:
        """``BETWEEN … AND …``, bounds included."""
        return self.joined("(", self, " BETWEEN ", value(lower_bound), " AND ", value(upper_bound), ")")

    def not_between(self, lower_bound: object, upper_bound: object) -> Self:
        """Whether the value lies outside two bounds, which are inside themselves."""
        return self.joined("(", self, " NOT BETWEEN ", value(lower_bound), " AND ", value(upper_bound), ")")

    def in_(self, first: object, *others: object) -> Self:
        """Whether it is one of the values, or a row of a `Table` of one column."""
        if isinstance(first, Query) and not isinstance(first, Operand):
            return self.joined("(", self, f" IN ({first.sql}\n))")
        return self.joined("(", self, " IN ", *list_pieces("(", (first, *others), "))"))

    def then(self, if_true: object, if_false: object) -> Self:
        """``CASE WHEN self THEN if_true ELSE if_false END``."""
        return self.joined("CASE WHEN ", self, " THEN ", value(if_true), " ELSE ", value(if_false), " END")

    def if_null(self, null_replacement: object) -> Self:
        """This, or the other where it is NULL."""
        return self._call("IFNULL", null_replacement)

    @property
    def sum(self) -> Self:
        """The sum of a group; NULL of no values."""
        return self._fold("SUM")

    @property
    def sum0(self) -> Self:
        """The sum of a group; 0 of no values."""
        return self._fold("`$SUM0`")

    @property
    def count(self) -> Self:
        """COUNT of values that are not NULL."""
        return self._fold("COUNT")

    @property
    def avg(self) -> Self:
        """The mean of a group, cut to an integer where the values are."""
        return self._fold("AVG")

    @property
    def min(self) -> Self:
        """The smallest value of a group."""
        return self._fold("MIN")

    @property
    def max(self) -> Self:
        """The largest value of a group."""
        return self._fold("MAX")

    @property
    def stddev_pop(self) -> Self:
        """The standard deviation of a group that is the whole population."""
        return self._fold("STDDEV_POP")

    @property
    def stddev_samp(self) -> Self:
        """The standard deviation of a group that is a sample."""
        return self._fold("STDDEV_SAMP")

    @property
    def var_pop(self) -> Self:
        """The variance of a group that is the whole population."""
        return self._fold("VAR_POP")

    @property
    def var_samp(self) -> Self:
        """The variance of a group that is a sample."""
        return self._fold("VAR_SAMP")

    @property
    def collect(self) -> Self:
        """COLLECT: a multiset of the values."""
        return self._fold("COLLECT")

    @property
    def array_agg(self) -> Self:
        """ARRAY_AGG: an array of the values."""
        return self._fold("ARRAY_AGG")

    def percentile(self, percentage: object, frequency: object = None) -> Self:
        """The value, or values, below which a part of a group is."""
        exact = [Decimal(repr(each)) for each in percentage] if isinstance(percentage, list) else percentage
        exact = Decimal(repr(exact)) if isinstance(exact, float) else exact
        return self._fold("PERCENTILE", exact, *(() if frequency is None else (frequency,)))

    @property
    def first_value(self) -> Self:
        """The value of the first row of a group to arrive that has one."""
        return self._fold("FIRST_VALUE")

    @property
    def last_value(self) -> Self:
        """The value of the last row of a group to arrive that has one."""
        return self._fold("LAST_VALUE")

    def list_agg(self, separator: str = ",") -> Self:
        """LISTAGG: the texts, with the separator between them."""
        return self._fold("LISTAGG", separator)

    @property
    def distinct(self) -> Self:
        """The aggregate over distinct values, e.g. ``col("k").count.distinct``."""
        if self._aggregate is None:
            raise SqlError(f"{self!r} is no aggregate", hint="Write col('k').count.distinct.")
        parts = list_pieces("(DISTINCT ", self._aggregate.operands, ")")
        return self.joined(self._aggregate.function, *parts, aggregate=self._aggregate)

    def filter(self, condition: Expression) -> Self:
        """The aggregate over rows for which the condition is TRUE."""
        if self._aggregate is None:
            raise SqlError(f"{self!r} is no aggregate", hint="Write col('v').sum.filter(col('k') > 1).")
        return self.joined(self, " FILTER (WHERE ", condition, ")")

    def over(self, window: Expression) -> Self:
        """The aggregate over rows of an over window, by its alias; see `Table.over_window`."""
        return self.joined(self, " OVER ", window)

    @property
    def start(self) -> Self:
        """Start of the group window that this is the alias of."""
        return self._bound("START")

    @property
    def end(self) -> Self:
        """End of the group window that this is the alias of; it is not in the window."""
        return self._bound("END")

    @property
    def rowtime(self) -> Self:
        """Event time of the group window that this is the alias of."""
        return self._bound("ROWTIME")

    @property
    def proctime(self) -> Self:
        """Processing time of the group window that this is the alias of."""
        return self._bound("PROCTIME")

    def _bound(self, what: str) -> Self:
        return type(self)(WindowBound(self.sql, what))


def as_sql(expression: Expression | str, names: FunctionNames | None = None) -> str:
    """SQL text of what a method of `Table` was given, in a session: texts are SQL already."""
    return _require_expression(expression).render({}, names) if not isinstance(expression, str) else expression


def as_column(expression: Expression | str, names: FunctionNames, windows: Mapping[str, Any] | None = None) -> str:
    """The same as a column of SELECT, with its alias."""
    return expression if isinstance(expression, str) else _require_expression(expression).column(windows, names)


def _require_expression(given: object) -> Expression:
    if isinstance(given, Expression):
        return given
    raise SqlError(
        f"{given!r} is not an expression",
        hint="Write lit(…) for a constant, and call(f) for a function of Python without parameters.",
    )


def column_name(expression: Expression | str) -> str:
    """Name of the column that an expression is; SqlError if it is anything else. A text is the name itself."""
    if isinstance(expression, str):
        return expression
    text = "".join(map(str, expression.pieces))
    name = text[1:-1].replace("``", "`")
    if text != quoted((name,)):
        raise SqlError(f"{text} is no column", hint="Write col('name').")
    return name
