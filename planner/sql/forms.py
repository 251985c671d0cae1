"""Calls: the plain form, the functions with words among their operands, what may stand behind a call."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType as T

from planner.sql import nodes
from planner.sql.cursor import NAMES
from planner.sql.types import Types
from planner.sql.words import RESERVED

BARE = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
"""Functions written without parentheses."""
_CALLED = frozenset({*NAMES, T.LEFT, T.RIGHT})


class Forms(Types):
    """The part of the parser that reads calls."""

    def call(self) -> exp.Expr | None:
        """A call that starts at the next word, or None if the word is no call."""
        token, word = self.token, self.token.text.upper()
        quoted = token.token_type is T.IDENTIFIER
        length = self._callee()
        if length == 0:
            return None
        form = _FORMS.get(word) if length == 1 and not quoted else None
        if form is not None:
            self._advance(2)
            found: exp.Expr = self.expression(form(self, word), token)
            self.expect(")")
            return self._clauses(found, word)
        if quoted or length > 1:
            path = ".".join(self.path("a function"))
            this: exp.Identifier | str = exp.Identifier(this=path, quoted=True)
        else:
            this = path = self.take().text
        operands, ignored = self._operands(path)
        found = self.expression(exp.Anonymous(this=this, expressions=operands), token)
        return self._clauses(self.expression(exp.IgnoreNulls(this=found)) if ignored else found, path)

    def _callee(self) -> int:
        """Number of name parts in front of ``(``; 0 if it is no call."""
        word = self.token.text.upper()
        if self.token.token_type is T.VAR and word in RESERVED and word not in _FORMS:
            return 0
        at = 0
        while self.ahead(at).token_type in _CALLED:
            behind = self.ahead(at + 1).token_type
            if behind is T.L_PAREN:
                return at // 2 + 1
            if behind is not T.DOT:
                return 0
            at += 2
        return 0

    def _operands(self, name: str) -> tuple[list[exp.Expr], bool]:
        """What stands in the parentheses, and whether NULLs are ignored."""
        self.expect("(")
        if self.at("*"):
            star = self.expression(exp.Star(), self.take())
            self.expect(")")
            return [star], False
        token = self.token
        distinct = self._match(T.DISTINCT)
        if not distinct:
            self._match(T.ALL)
        if self.at(")"):
            if distinct:
                raise self.no_expression()
            self.expect(")")
            return [], False
        if self.ahead(1).token_type is T.FARROW:
            raise self.unsupported("a named argument of a scalar function", "Give the arguments in order.")
        args = self._parse_csv(self._parse_disjunction)
        ignored = name.upper() == "ARRAY_AGG" and self._ignores_nulls(name)
        if name.upper() == "ARRAY_AGG" and self._match(T.ORDER_BY, advance=False):
            self._parse_order()  # As in Flink, which puts the members in the order they come all the same.
        if self._match(T.ORDER_BY, advance=False) or self.at_any("IGNORE", "RESPECT", "SEPARATOR"):
            raise self.unsupported(f"{self.shown().upper()} inside the parentheses of {name}", "Leave it out.")
        self.expect(")")
        return [self.expression(exp.Distinct(expressions=args), token)] if distinct else args, ignored

    # Behind a call.

    def _ignores_nulls(self, name: str) -> bool:
        """Reads ``IGNORE NULLS`` or ``RESPECT NULLS``; behind LAG and LEAD they change nothing, as in Flink."""
        ignored = self.at("IGNORE", "NULLS")
        if not ignored and not self.at("RESPECT", "NULLS"):
            return False
        if name.upper() not in ("ARRAY_AGG", "LAG", "LEAD"):
            what = self.token.text.upper()
            raise self.unsupported(f"{what} NULLS", "Filter NULLs with FILTER (WHERE … IS NOT NULL).")
        self._advance(2)
        return ignored and name.upper() == "ARRAY_AGG"

    def _clauses(self, call: exp.Expr, name: str) -> exp.Expr:
        if self._ignores_nulls(name):
            call = self.expression(exp.IgnoreNulls(this=call))
        if self.accept("WITHIN", "GROUP"):
            self.expect("(")
            order = self._parse_order()
            if order is None:
                raise self.error("expected ORDER")
            call = self.expression(exp.WithinGroup(this=call, expression=order))
            self.expect(")")
        if self.at("FILTER", "("):
            self._advance(2)
            self.expect("WHERE")
            where = self._parse_where(skip_where_token=True)
            call = self.expression(exp.Filter(this=call, expression=where))
            self.expect(")")
        if self._match(T.OVER):
            token = self.token
            if self.at("("):
                return self._specification(exp.Window(this=call))
            window = exp.Window(this=call, alias=self.name_node("a window"))
            window.meta["over"] = token.start
            return self.expression(window)
        return call

    def _specification(self, window: exp.Window) -> exp.Window:
        """``( [name] [PARTITION BY …] [ORDER BY …] [ROWS | RANGE …] )``."""
        window.meta["over"] = self.offset
        self.expect("(")
        if not self.at_any(")", "PARTITION", "PARTITION BY", "ORDER", "ORDER BY", "ROWS", "RANGE"):
            window.set("alias", self.name_node("a window"))
        window.set("partition_by", self._partition())
        window.set("order", self._parse_order())
        if self.at_any("ROWS", "RANGE"):
            kind = self.take().text.upper()
            between = self._match(T.BETWEEN)
            start, start_side = self._bound()
            end: tuple[exp.Expr | str, str] | tuple[None, None] = (None, None)
            if between:
                self.expect("AND")
                end = self._bound()
            window.set(
                "spec", exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end[0], end_side=end[1])
            )
        if self.at("EXCLUDE"):
            raise self.unsupported("EXCLUDE in a window frame", "Leave it out.")
        self.expect(")")
        return self.expression(window)

    def _partition(self) -> list[exp.Expr]:
        if self._match(T.PARTITION):
            self.expect("BY")
        if not self._match(T.PARTITION_BY):
            return []
        token, keys = self.token, self._parse_csv(self._parse_disjunction)
        if any(isinstance(key, exp.Subquery) for key in keys):
            self.not_flinks("a query in PARTITION BY", "Partition by a column of the input.", token)
        return keys

    def _bound(self) -> tuple[exp.Expr | str, str]:
        token = self.token
        if self.accept("CURRENT"):
            self.expect("ROW")
            return self.expression(exp.Var(this="CURRENT ROW"), token), "CURRENT ROW"
        if self.accept("UNBOUNDED"):
            value: exp.Expr = self.expression(exp.Var(this="UNBOUNDED"), token)
        else:
            value = self.one(self._parse_term)
        if self.accept("PRECEDING"):
            return value, "PRECEDING"
        self.expect("FOLLOWING")
        return value, "FOLLOWING"

    def named_window(self) -> exp.Window:
        """``name AS ( … )`` of WINDOW."""
        name = self.name_node("a window")
        self.expect("AS")
        return self._specification(exp.Window(this=name))

    def _parse_order(self, this: exp.Expr | None = None, skip_order_token: bool = False) -> exp.Expr | None:
        if self.at("ORDER"):
            self._advance()
            self.expect("BY")
        return super()._parse_order(this, skip_order_token)

    def _parse_ordered(self, parse_method: Callable[[], exp.Expr | None] | None = None) -> exp.Ordered:
        token, this = self.token, self.one()  # sqlglot fills in the NULLS FIRST that was not written
        desc = self._match(T.DESC)
        if not desc:
            self._match(T.ASC)
        nulls: str | bool = False
        if self.accept("NULLS"):
            nulls = "LAST" if self.accept("LAST") else "FIRST"
            if nulls == "FIRST":
                self.expect("FIRST")
        return self.expression(exp.Ordered(this=this, desc=desc, nulls_first=nulls), token)

    # Functions with words among their operands; their parentheses are read by `call`.

    def special(self, name: str, *operands: exp.Expr, **more: object) -> exp.Expr:
        """A function whose words became operands."""
        return nodes.Special(this=name, expressions=list(operands), **more)

    def operand(self) -> exp.Expr:
        """One operand."""
        return self.one()

    def symbol(self, word: str) -> exp.Var:
        """A word as an operand."""
        return exp.Var(this=word.upper())

    def _cast(self, name: str) -> exp.Expr:
        operand = self.one()
        self.expect("AS")
        kind = exp.TryCast if name == "TRY_CAST" else exp.Cast
        return kind(this=operand, to=self.type_node())

    def _row(self, name: str) -> exp.Expr:
        return self.special(name, *(() if self.at(")") else self.listed(self.one)))

    def _extract(self, name: str) -> exp.Expr:
        field = self.symbol(self.identifier("a unit such as YEAR"))
        self.expect("FROM")
        return self.special(name, field, self.one())

    def _floor(self, name: str) -> exp.Expr:
        operands = [self.one()]
        if self.accept("TO"):
            operands.append(self.symbol(self.identifier("a unit such as DAY")))
        return self.special(name.replace("CEILING", "CEIL"), *operands)

    def _trim(self, name: str) -> exp.Expr:
        mode = self.symbol(self.take().text if self.at_any("BOTH", "LEADING", "TRAILING") else "BOTH")
        blank = exp.Literal.string(" ")
        first: exp.Expr = blank if self.at("FROM") else self.one()
        if self._match(T.FROM):
            return self.special(name, mode, first, self.one())
        if self._match(T.COMMA):
            return self.special(name, mode, self.one(), first)
        return self.special(name, mode, blank, first)

    def _position(self, name: str) -> exp.Expr:
        part = self.one(self._parse_term)
        self.expect("IN")
        operands = [part, self.one()]
        if self._match(T.FROM):
            operands.append(self.one())
        return self.special(name, *operands)

    def _units(self, name: str) -> exp.Expr:
        unit = self.symbol(self.identifier("a unit such as DAY").upper().removeprefix("SQL_TSI_"))
        self.expect(",")
        return self.special(name, unit, *self.listed(self.one))

    def _parts(self, name: str) -> exp.Expr:
        """Operands divided by words or by commas: SUBSTRING(a FROM b FOR c), OVERLAY(a PLACING b FROM c FOR d)."""
        operands = [self.one()]
        for word in ("FROM", "FOR") if name == "SUBSTRING" else ("PLACING", "FROM", "FOR"):
            if not self.accept(word) and not self.accept(","):
                break
            operands.append(self.one())
        return self.special(name, *operands)

    def _subquery(self, name: str) -> exp.Expr:
        if self.at_any("SELECT", "WITH", "VALUES"):
            position = self.source.position(self.ahead(-2).start)
            raise self.unsupported(f"{name}(SELECT …)", "Aggregate with COLLECT or ARRAY_AGG.", position)
        raise self.error(f"expected [ behind {name}")

    # SQL/JSON: the words become operands, in the order of the functions' definitions.

    def _document(self) -> tuple[exp.Expr, exp.Expr]:
        document = self.one()
        self.expect(",")
        return document, self.one()

    def _returning(self) -> exp.Expr | None:
        return self.type_node() if self.accept("RETURNING") else None

    def _on(self, *events: str) -> str:
        self.expect("ON")
        if not self.at_any(*events):
            raise self.error(f"expected {' or '.join(events)} behind ON")
        return self.take().text.upper()

    def _json_value(self, name: str) -> exp.Expr:
        """(document, path, on empty, default, on error, default)."""
        operands: list[exp.Expr] = [*self._document()]
        returning = self._returning()
        behaviour: dict[str, tuple[str, exp.Expr]] = {"EMPTY": ("NULL", exp.Null()), "ERROR": ("NULL", exp.Null())}
        while self.at_any("NULL", "ERROR", "DEFAULT"):
            word = self.take().text.upper()
            default = self.one() if word == "DEFAULT" else exp.Null()
            behaviour[self._on("EMPTY", "ERROR")] = (word, default)
        for word, default in behaviour.values():
            operands += [self.symbol(word), default]
        return self.special(name, *operands, returning=returning)

    def _json_query(self, name: str) -> exp.Expr:
        """(document, path, wrapper, on empty, on error)."""
        document, path = self._document()
        returning, wrapper = self._returning(), self._wrapper()
        behaviour = {"EMPTY": "NULL", "ERROR": "NULL"}
        while self.at_any("NULL", "ERROR", "EMPTY"):
            word = self.take().text.upper()
            if word == "EMPTY":
                if not self.at_any("ARRAY", "OBJECT"):
                    raise self.error("expected ARRAY or OBJECT behind EMPTY")
                word = f"EMPTY {self.take().text.upper()}"
            behaviour[self._on("EMPTY", "ERROR")] = word
        words = (self.symbol(word) for word in (wrapper, *behaviour.values()))
        return self.special(name, document, path, *words, returning=returning)

    def _wrapper(self) -> str:
        if self.accept("WITHOUT"):
            self.accept("ARRAY")
            self.expect("WRAPPER")
            return "WITHOUT"
        if not self.accept("WITH"):
            return "WITHOUT"
        kind = "CONDITIONAL" if self.accept("CONDITIONAL") else "UNCONDITIONAL"
        if kind == "UNCONDITIONAL":
            self.accept("UNCONDITIONAL")
        self.accept("ARRAY")
        self.expect("WRAPPER")
        return kind

    def _json_exists(self, name: str) -> exp.Expr:
        """(document, path, on error)."""
        document, path = self._document()
        behaviour = "FALSE"
        if self.at_any("TRUE", "FALSE", "UNKNOWN", "ERROR"):
            behaviour = self.take().text.upper()
            self._on("ERROR")
        return self.special(name, document, path, self.symbol(behaviour))

    def _at_on_null(self) -> bool:
        return self.at("NULL", "ON") or self.at("ABSENT", "ON")

    def _on_null(self, default: str) -> str:
        if not self._at_on_null():
            return default
        word = self.take().text.upper()
        self.expect("ON", "NULL")
        return word

    def _pair(self) -> tuple[exp.Expr, exp.Expr]:
        if self.at("KEY") and self.ahead(1).text.upper() not in (":", "VALUE", ",", ".", "("):
            self.take()
        key = self.one()
        if not self.accept("VALUE"):
            self.expect(":")
        return key, self.one()

    def _json_object(self, name: str) -> exp.Expr:
        """(on null, key, value, …)."""
        pairs = () if self.at(")") or self._at_on_null() else self.listed(self._pair)
        return self.special(name, self.symbol(self._on_null("NULL")), *(each for pair in pairs for each in pair))

    def _json_array(self, name: str) -> exp.Expr:
        """(on null, value, …)."""
        members = () if self.at(")") or self._at_on_null() else self.listed(self.one)
        return self.special(name, self.symbol(self._on_null("ABSENT")), *members)

    def _json_object_aggregate(self, name: str) -> exp.Expr:
        pair = self._pair()
        return self.special(name, *pair, on_null=self._on_null("NULL"))

    def _json_array_aggregate(self, name: str) -> exp.Expr:
        member = self.one()
        return self.special(name, member, on_null=self._on_null("ABSENT"))


_FORMS: dict[str, Callable[[Forms, str], exp.Expr]] = {
    "CAST": Forms._cast,
    "TRY_CAST": Forms._cast,
    "ROW": Forms._row,
    "EXTRACT": Forms._extract,
    "FLOOR": Forms._floor,
    "CEIL": Forms._floor,
    "CEILING": Forms._floor,
    "TRIM": Forms._trim,
    "POSITION": Forms._position,
    "SUBSTRING": Forms._parts,
    "OVERLAY": Forms._parts,
    "TIMESTAMPADD": Forms._units,
    "TIMESTAMPDIFF": Forms._units,
    "ARRAY": Forms._subquery,
    "MULTISET": Forms._subquery,
    "JSON_VALUE": Forms._json_value,
    "JSON_QUERY": Forms._json_query,
    "JSON_EXISTS": Forms._json_exists,
    "JSON_OBJECT": Forms._json_object,
    "JSON_ARRAY": Forms._json_array,
    "JSON_OBJECTAGG": Forms._json_object_aggregate,
    "JSON_ARRAYAGG": Forms._json_array_aggregate,
}
"""Functions with a syntax of their own."""
