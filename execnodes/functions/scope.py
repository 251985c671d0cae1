"""Lowering of an expression tree to Spark SQL text. Every text is atomic: it can stand anywhere in another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from execnodes.core.async_options import AsyncOptions
from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.places import Place, number, row
from execnodes.lowering.raising import raised
from execnodes.lowering.spark_sql import literal, text_literal
from execnodes.lowering.stream import ACTIVE, quote, wrap
from execnodes.lowering.user_calls import calls_functions, spark_name

SHORT = 100
"""Texts up to this length are repeated rather than named."""


_LONGER = len("concat(, ' [at 10]', )")
"""What a place adds to a text that can fail, besides the row; where texts are shared does not depend on it."""


UUID_TEXT = "uuid()"
ROW_OF_TASK = "monotonically_increasing_id()"
_ONCE = (UUID_TEXT, "rand(", ROW_OF_TASK)
"""What texts hold whose value may not be computed twice for a row."""


class Scope:
    """What one lowering knows: the texts of the input columns, the session zone, names already given."""

    def __init__(
        self,
        columns: Sequence[str],
        zone: str,
        find: Callable[[str], Callable[[Scope, Call], str]],
        calls: AsyncOptions | None = None,
    ) -> None:
        """`find` gives the lowering of an internal name; `calls`: see `lower`."""
        self._columns = columns
        self.zone = zone
        self._find = find
        self._calls = calls
        self._names = count()
        self._place: Place | None = None

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
            case Call():
                # Conversions that the planner put in have no place of their own; they fail where their user stands.
                outer, self._place = self._place, expression.place or self._place
                text = self._call(expression)
                self._place = outer
                return text

    def _call(self, call: Call) -> str:
        if call.user_name:
            # For which rows it is called, and what it says when it fails: the place is a number behind the condition.
            active = ACTIVE if self._place is None else f"if({ACTIVE}, {number(self._place)}, NULL)"
            operands = ", ".join([active, *self.texts(call.operands)])
            return f"{spark_name(call, self._calls)}({operands})"
        return self._find(call.internal_name)(self, call)

    def failure(self, message: str, found: str | None = None) -> str:
        """What fails the job with a message, the value `found` (a text in Spark SQL) and the place of the call."""
        return raised(message, self._place, found)

    def texts(self, expressions: Sequence[Expression]) -> list[str]:
        """Spark SQL of each."""
        return [self.text(each) for each in expressions]

    def fresh(self) -> str:
        """A name for a lambda variable."""
        return f"rk_v{next(self._names)}"

    def share(self, text: str, body: Callable[[str], str]) -> str:
        """A text that uses `text` several times but, if it is long, holds it once."""
        once = any(each in text for each in _ONCE)
        if not once and len(text) - (_LONGER + len(row())) * text.count(row()) <= SHORT:
            return body(text)
        name = self.fresh()
        shared = body(name)
        # Spark refuses Python in lambdas; it computes equal calls once by itself.
        return body(text) if calls_functions(shared) else f"transform(array({text}), {name} -> {shared})[0]"

    def share_some(self, texts: Sequence[str], indexes: Sequence[int], body: Callable[[Sequence[str]], str]) -> str:
        """As `share`, for those of `texts` at `indexes`."""
        if not indexes:
            return body(texts)
        first, *rest = indexes

        def with_first(name: str) -> str:
            return self.share_some([name if i == first else t for i, t in enumerate(texts)], rest, body)

        return self.share(texts[first], with_first)
