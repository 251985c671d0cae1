"""Column expressions of the Table API: a thin layer over SQL text, so that both roads meet in one planner."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.catalogs import quoted


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression as SQL text; operators build larger ones."""

    sql: str

    def _binary(self, operator: str, other: object) -> Expression:
        return Expression(f"({self.sql} {operator} {_sql(other)})")

    def __add__(self, other: object) -> Expression:
        return self._binary("+", other)

    def __sub__(self, other: object) -> Expression:
        return self._binary("-", other)

    def __mul__(self, other: object) -> Expression:
        return self._binary("*", other)

    def __truediv__(self, other: object) -> Expression:
        return self._binary("/", other)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]  # builds a comparison, as in PyFlink
        return self._binary("=", other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]  # as above
        return self._binary("<>", other)

    def __lt__(self, other: object) -> Expression:
        return self._binary("<", other)

    def __le__(self, other: object) -> Expression:
        return self._binary("<=", other)

    def __gt__(self, other: object) -> Expression:
        return self._binary(">", other)

    def __ge__(self, other: object) -> Expression:
        return self._binary(">=", other)

    def __and__(self, other: object) -> Expression:
        return self._binary("AND", other)

    def __or__(self, other: object) -> Expression:
        return self._binary("OR", other)

    def __invert__(self) -> Expression:
        return Expression(f"(NOT {self.sql})")

    __hash__ = object.__hash__

    def alias(self, name: str) -> Expression:
        """``expression AS name``."""
        return Expression(f"{self.sql} AS {quoted((name,))}")

    def cast(self, type_text: str) -> Expression:
        """CAST to a type such as ``"DECIMAL(10, 2)"``."""
        return Expression(f"CAST({self.sql} AS {type_text})")

    @property
    def is_null(self) -> Expression:
        """``IS NULL``."""
        return Expression(f"({self.sql} IS NULL)")

    @property
    def is_not_null(self) -> Expression:
        """``IS NOT NULL``."""
        return Expression(f"({self.sql} IS NOT NULL)")

    @property
    def sum(self) -> Expression:
        """SUM."""
        return call("SUM", self)

    @property
    def count(self) -> Expression:
        """COUNT of values that are not NULL."""
        return call("COUNT", self)

    @property
    def avg(self) -> Expression:
        """AVG."""
        return call("AVG", self)

    @property
    def min(self) -> Expression:
        """MIN."""
        return call("MIN", self)

    @property
    def max(self) -> Expression:
        """MAX."""
        return call("MAX", self)


def col(name: str) -> Expression:
    """A column by name."""
    return Expression(quoted(tuple(name.split("."))))


def lit(value: object) -> Expression:
    """A constant: a number, text, truth value or None."""
    return Expression(_sql(value))


def call(function: str, *operands: object) -> Expression:
    """A function of the SQL dialect by name."""
    return Expression(f"{function}({', '.join(map(_sql, operands))})")


def as_sql(expression: Expression | str) -> str:
    """SQL text of what a method of `Table` was given: texts are SQL already."""
    return expression.sql if isinstance(expression, Expression) else expression


def _sql(value: object) -> str:
    match value:
        case Expression():
            return value.sql
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return f"CAST('{value!r}' AS DOUBLE)"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            raise TypeError(f"{value!r} is no constant of SQL; give a number, text, truth value, None or an expression")
