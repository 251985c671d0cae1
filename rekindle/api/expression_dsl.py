"""Functions that begin an expression: ``col``, ``lit``, ``call`` and those that have no operand to be a method of."""

from __future__ import annotations

from execnodes.core.types import LogicalType
from execnodes.user_functions.loading import definition_of
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression
from rekindle.api.literals import literal_sql, word_sql
from rekindle.api.operand import Aggregate, call_pieces, function_name, list_pieces, value


def col(name: str) -> Expression:
    """A column by name; ``*`` stands for all of them, in `select`."""
    return Expression("*" if name == "*" else quoted((name,)))


def lit(v: object, data_type: LogicalType | str | None = None) -> Expression:
    """A constant, of a type if one is given."""
    constant = Expression(literal_sql(v))
    return constant if data_type is None else constant.cast(data_type)


def call(f: object, *args: object) -> Expression:
    """A function by name, of the system or of the user, or a function of Python itself.

    SqlError for a name that is none, FunctionError for an object that is no function.
    """
    if not isinstance(f, str):
        definition_of(f, function_name(f))
        return Expression().call_function(f, args)
    pieces = call_pieces(f, args)
    return Expression.joined(*pieces, aggregate=Aggregate(str(pieces[0]).removesuffix("("), args))


def call_sql(text: str) -> Expression:
    """An expression as SQL text."""
    return Expression(f"({text}\n)")


def and_(first: object, second: object, *others: object) -> Expression:
    """All conditions."""
    return _joined(" AND ", first, second, *others)


def or_(first: object, second: object, *others: object) -> Expression:
    """One of the conditions."""
    return _joined(" OR ", first, second, *others)


def not_(expression: Expression) -> Expression:
    """The opposite of a condition."""
    return ~expression


def if_then_else(condition: Expression, if_true: object, if_false: object) -> Expression:
    """``CASE WHEN condition THEN if_true ELSE if_false END``."""
    return condition.then(if_true, if_false)


def coalesce(*operands: object) -> Expression:
    """The first that is not NULL."""
    return call("COALESCE", *operands)


def concat(first: object, *others: object) -> Expression:
    """Texts behind each other; NULL if one is."""
    return call("CONCAT", first, *others)


def concat_ws(separator: object, first: object, *others: object) -> Expression:
    """Texts that are not NULL, with a separator between them."""
    return call("CONCAT_WS", separator, first, *others)


def row(first: object, *others: object) -> Expression:
    """A row of values."""
    return Expression.joined(*list_pieces("ROW(", (first, *others), ")"))


def array(first: object, *others: object) -> Expression:
    """An array of values."""
    return Expression.joined(*list_pieces("ARRAY[", (first, *others), "]"))


def map_(key: object, value: object, *others: object) -> Expression:
    """A map of keys and values, in turn."""
    return Expression.joined(*list_pieces("MAP[", (key, value, *others), "]"))


def null_of(data_type: LogicalType | str) -> Expression:
    """NULL of a type."""
    return lit(None, data_type)


def current_date() -> Expression:
    """Today, in the session's time zone."""
    return Expression("CURRENT_DATE")


def current_time() -> Expression:
    """The time of day, in the session's time zone."""
    return Expression("CURRENT_TIME")


def current_timestamp() -> Expression:
    """This moment, as TIMESTAMP_LTZ(3)."""
    return Expression("CURRENT_TIMESTAMP")


def local_time() -> Expression:
    """LOCALTIME."""
    return Expression("LOCALTIME")


def local_timestamp() -> Expression:
    """LOCALTIMESTAMP."""
    return Expression("LOCALTIMESTAMP")


def to_timestamp_ltz(numeric: object, precision: object) -> Expression:
    """An instant from seconds (precision 0) or milliseconds (3) since 1970."""
    return call("TO_TIMESTAMP_LTZ", numeric, precision)


def date_format(timestamp: object, format: object) -> Expression:
    """A time as text."""
    return call("DATE_FORMAT", timestamp, format)


def timestamp_diff(time_point_unit: str, time_point1: object, time_point2: object) -> Expression:
    """Whole units from the first time to the second."""
    unit = word_sql(time_point_unit)
    return Expression.joined(f"TIMESTAMPDIFF({unit}, ", value(time_point1), ", ", value(time_point2), ")")


def pi() -> Expression:
    """3.14159…, as a DOUBLE."""
    return call("PI")


def rand(seed: object = None) -> Expression:
    """A random number from 0 to 1, one a row."""
    return call("RAND", *(() if seed is None else (seed,)))


def uuid() -> Expression:
    """A random UUID, one a row."""
    return call("UUID")


def _joined(operator: str, *operands: object) -> Expression:
    parts: list[object] = ["("]
    for index, each in enumerate(operands):
        parts += [operator, value(each)] if index else [value(each)]
    return Expression.joined(*parts, ")")
