"""Lowering of an expression tree to Spark SQL text. Every text is atomic: it can stand anywhere in another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.lowering import quote, wrap
from execnodes.core.spark_sql import literal, text_literal
from execnodes.core.user_functions.naming import ACTIVE, PREFIX, spark_name

SHORT = 100
"""Texts up to this length are repeated rather than named."""


class Scope:
    """What one lowering knows: the texts of the input columns, the session zone, names already given."""

    def __init__(self, columns: Sequence[str], zone: str, find: Callable[[str], Callable[[Scope, Call], str]]) -> None:
        """`find` gives the lowering of an internal name."""
        self._columns = columns
        self.zone = zone
        self._find = find
        self._names = count()

    @property
    def zone_text(self) -> str:
        """The session zone as a text constant."""
        return text_literal(self.zone)

    def text(self, expression: Expression) -> str:
        """Spark SQL of one expression."""
        match expression:
            case InputRef():
                return wrap(self._columns[expression.input_index])
            case Literal():
                return literal(expression.value, expression.type)
            case FieldAccess():
                return f"{self.text(expression.expr)}.{quote(expression.name)}"
            case Call() if expression.user_name:
                operands = ", ".join([ACTIVE, *self.texts(expression.operands)])
                return f"{spark_name(expression)}({operands})"
            case Call():
                return self._find(expression.internal_name)(self, expression)

    def texts(self, expressions: Sequence[Expression]) -> list[str]:
        """Spark SQL of each."""
        return [self.text(each) for each in expressions]

    def fresh(self) -> str:
        """A name for a lambda variable."""
        return f"rk_v{next(self._names)}"

    def share(self, text: str, body: Callable[[str], str]) -> str:
        """A text that uses `text` several times but, if it is long, holds it once."""
        if len(text) <= SHORT:
            return body(text)
        name = self.fresh()
        shared = body(name)
        # Spark refuses Python in lambdas; it computes equal calls once by itself.
        return body(text) if PREFIX in shared else f"transform(array({text}), {name} -> {shared})[0]"

    def share_some(self, texts: Sequence[str], indexes: Sequence[int], body: Callable[[Sequence[str]], str]) -> str:
        """As `share`, for those of `texts` at `indexes`."""
        if not indexes:
            return body(texts)
        first, *rest = indexes

        def with_first(name: str) -> str:
            return self.share_some([name if i == first else t for i, t in enumerate(texts)], rest, body)

        return self.share(texts[first], with_first)
