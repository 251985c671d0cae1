"""What sqlglot has no node for."""

from __future__ import annotations

from sqlglot import exp

UNMARKED = "unmarked"
"""What an alias says of itself in its meta data: that no AS is in front of it."""


class Hint(exp.Expression):
    """One hint: its name, its options."""

    arg_types = {"this": True, "expressions": False}


class HintOption(exp.Expression):
    """``'key' = 'value'`` or a key alone."""

    arg_types = {"this": True, "expression": False}


class Type(exp.Expression):
    """Holds a LogicalType."""

    arg_types = {"this": True}


class Temporal(exp.Expression):
    """``DATE '…'``, ``INTERVAL '…' unit TO unit``; holds the constant."""

    arg_types = {"this": True}


class Special(exp.Expression):
    """A function with words among its operands."""

    arg_types = {"this": True, "expressions": False, "returning": False, "on_null": False}


class Predicate(exp.Expression):
    """``x IS …``: the words behind IS as the name."""

    arg_types = {"this": True, "words": True}


class Quantified(exp.Expression):
    """``x > ALL (query)``: the sign, ALL or SOME."""

    arg_types = {"this": True, "sign": True, "word": True, "query": True}


class QuantifiedList(exp.Expression):
    """``x > ALL (1, 2)``: the sign, ALL or SOME."""

    arg_types = {"this": True, "sign": True, "word": True, "expressions": True}


class Period(exp.Expression):
    """OVERLAPS of two periods."""

    arg_types = {"this": True, "expression": True}


class Query(exp.Expression):
    """A whole query: its body with WITH, ORDER BY and limits, which sqlglot hangs on the body."""

    arg_types = {"this": True, "with_": False, "order": False, "offset": False, "fetch": False}


class TableFunction(exp.Expression):
    """``TABLE(f(…))`` or ``f(…)`` in FROM."""

    arg_types = {"this": True, "expressions": False, "alias": False}


class TableArgument(exp.Expression):
    """``TABLE t PARTITION BY …`` or a query as an argument."""

    arg_types = {"this": True, "partition": False}


class Descriptor(exp.Expression):
    """``DESCRIPTOR(column, …)``."""

    arg_types = {"expressions": True}


class Unnest(exp.Expression):
    """``UNNEST(collection) [WITH ORDINALITY]``."""

    arg_types = {"this": True, "ordinality": False, "alias": False}


class Joined(exp.Expression):
    """A relation and the joins behind it."""

    arg_types = {"this": True, "expressions": False}


class Relations(exp.Expression):
    """What FROM holds: joined relations, with commas between."""

    arg_types = {"this": True, "expressions": False}


class MatchRecognize(exp.Expression):
    """``relation MATCH_RECOGNIZE (…)``; `after` is where to go on, with the variable of TO FIRST and TO LAST."""

    arg_types = {"this": True, "partition": False, "order": False, "measures": True, "after": True, "pattern": True,
                 "within": False, "definitions": True, "alias": False}  # fmt: skip


class PatternVariable(exp.Expression):
    """A variable of a pattern with its quantifier; `most` -1: any number of rows."""

    arg_types = {"this": True, "least": True, "most": True, "reluctant": True}


class Definition(exp.Expression):
    """``variable AS condition``."""

    arg_types = {"this": True, "expression": True}
