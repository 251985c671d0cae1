"""Expressions, from OR down to literals: sqlglot's ladder, with Calcite's predicates and Flink's literals."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from execnodes.core import types as t
from planner.sql import literals, nodes
from planner.sql.cursor import TEXTS
from planner.sql.forms import BARE
from planner.sql.intervals import Intervals

_COMPARISONS: dict[T, type[exp.Binary]] = {
    T.EQ: exp.EQ, T.NEQ: exp.NEQ, T.LT: exp.LT, T.LTE: exp.LTE, T.GT: exp.GT, T.GTE: exp.GTE,
}  # fmt: skip
_RANGES = frozenset({T.IN, T.BETWEEN, T.LIKE, T.SIMILAR_TO})
_IS, _COMPARISON, _RANGE = range(3)
"""How tight predicates bind, as in Calcite: IS NULL and its like; = and <; IN, BETWEEN and LIKE. NOT is below them."""
_STARTS = frozenset({T.SELECT, T.WITH, T.VALUES})
_AFTER_QUERY = frozenset({T.R_PAREN, T.UNION, T.EXCEPT, T.INTERSECT, T.ORDER_BY, T.LIMIT, T.OFFSET, T.FETCH})
"""What follows a query in parentheses that is part of a query; anything else makes it a value or a table."""
_SIMPLE = frozenset({T.NUMBER, T.STRING, T.NULL, T.TRUE, T.FALSE})
_ENDS = frozenset({T.COMMA, T.R_PAREN})


class Expressions(Intervals):
    """The part of the parser that reads expressions."""

    # What sqlglot's ladder holds: Flink's operators only, || as tight as *.
    FACTOR = {T.STAR: exp.Mul, T.SLASH: exp.Div, T.MOD: exp.Mod, T.DPIPE: exp.DPipe}
    TERM = {T.PLUS: exp.Add, T.DASH: exp.Sub}
    EXPONENT: ClassVar[dict[T, type[exp.Expr]]] = {}
    _negations = 0

    def query_node(self) -> nodes.Query:
        """A query; the parser of queries says how."""
        raise NotImplementedError

    def at_query(self, offset: int = 0) -> bool:
        """True if a query starts `offset` tokens on, perhaps in parentheses; 0: at the start of a statement."""
        if offset == 0 and self._curr.token_type is T.L_PAREN:
            return self.at_query(1)
        opened = offset
        while self.ahead(offset).token_type is T.L_PAREN:
            offset += 1
        kind = self.ahead(offset).token_type
        if kind not in _STARTS and (kind is not T.TABLE or self.ahead(offset + 1).token_type is T.L_PAREN):
            return False
        return offset == opened or self._are_queries(opened, offset)

    def _are_queries(self, opened: int, start: int) -> bool:
        """Whether each parenthesis from `opened` to `start` closes in front of what may follow a part of a query."""
        depth, at = start - opened, start
        while depth:
            kind = self.ahead(at).token_type
            if kind is T.SENTINEL:
                return True
            if kind is T.L_PAREN:
                at = self._find_close(at)
            elif kind is T.R_PAREN:
                depth -= 1
                if self.ahead(at + 1).token_type not in _AFTER_QUERY:
                    return False
            at += 1
        return True

    def _find_close(self, offset: int) -> int:
        """Where the parenthesis closes that opens there; where the text ends if it does not."""
        depth = 0
        while (kind := self.ahead(offset).token_type) is not T.SENTINEL:
            depth += (kind is T.L_PAREN) - (kind is T.R_PAREN)
            if depth == 0:
                break
            offset += 1
        return offset

    def parenthesised_query(self) -> nodes.Query:
        """``( query )``."""
        self.expect("(")
        found = self.query_node()
        self.expect(")")
        return found

    def _parse_disjunction(self) -> exp.Expr | None:
        """An expression; a literal behind which it ends, as in VALUES and IN, needs no walk down the ladder."""
        if self._curr.token_type in _SIMPLE and self._next.token_type in _ENDS:
            return _LITERALS[self._curr.token_type](self, self._curr)
        return super()._parse_disjunction()

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._parse_term()

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        """NOT and predicates."""
        return self._predicates(_IS)

    def _predicates(self, level: int) -> exp.Expr:
        """An operand, and the predicates behind it that bind as tight as `level` or tighter, from left to right."""
        left, depth = self._negated(), 0
        while True:
            kind = self._curr.token_type
            if kind is T.NOT and self._next.token_type not in _RANGES:
                return left
            if self.accept("SIMILAR"):
                raise self.error("expected TO")
            if (binds := self._level(kind)) is None or binds < level:
                return left
            if kind in _COMPARISONS:
                left = self._comparison(left, _COMPARISONS[kind])
            elif kind is T.IS:
                self._advance()
                left = self._parse_is(left)
            elif kind is T.OVERLAPS:
                self._advance()
                left = self.expression(nodes.Period(this=left, expression=self._predicates(_COMPARISON + 1)))
            elif kind is T.NOT:
                self._advance()
                left = self.expression(exp.Not(this=self._range(left)))
            else:
                left = self._range(left)
            depth = self.deeper(depth)

    def _level(self, kind: T) -> int | None:
        """How tight the predicate binds that begins here; None if there is none."""
        if kind in _COMPARISONS:
            return _RANGE if self._at_quantifier(1) else _COMPARISON
        if kind is T.IS:
            words = [self.ahead(offset).text.upper() for offset in (1, 2, 3)]
            return _COMPARISON if words[words[0] == "NOT" :][:2] == ["DISTINCT", "FROM"] else _IS
        if kind is T.OVERLAPS:
            return _COMPARISON
        return _RANGE if kind in _RANGES or kind is T.NOT else None

    def _negated(self) -> exp.Expr:
        """An operand, or NOT, which may stand behind any predicate, and what it negates."""
        if self._curr.token_type is not T.NOT:
            return self.one(self._parse_term)
        before, negations = self._negations, list[Token]()
        while self._curr.token_type is T.NOT:
            self._negations = self.deeper(self._negations)
            negations.append(self.take())
        found = self._predicates(_IS)
        for token in reversed(negations):
            found = self.expression(exp.Not(this=found), token)
        self._negations = before
        return found

    def _comparison(self, left: exp.Expr, kind: type[exp.Binary]) -> exp.Expr:
        sign = "<>" if kind is exp.NEQ else self._curr.text
        if self.at("!="):
            self.not_flinks("!=", "Write <>.")
        quantified = self._at_quantifier(1)
        self._advance()
        if quantified:
            return self._quantified(left, sign)
        return self.expression(kind(this=left, expression=self._predicates(_COMPARISON + 1)))

    def _at_quantifier(self, offset: int) -> bool:
        word = self.ahead(offset).text.upper()
        return word in ("ANY", "SOME", "ALL") and self.ahead(offset + 1).token_type is T.L_PAREN

    def _quantified(self, left: exp.Expr, sign: str) -> exp.Expr:
        is_query = self.at_query(2)
        word = "ALL" if self.take().text.upper() == "ALL" else "SOME"
        if not is_query:
            self.expect("(")
            members = self._parse_csv(self._parse_disjunction)
            self.expect(")")
            return self.expression(nodes.QuantifiedList(this=left, sign=sign, word=word, expressions=members))
        query = exp.Subquery(this=self.parenthesised_query())
        return self.expression(nodes.Quantified(this=left, sign=sign, word=word, query=query))

    def _parse_is(self, this: exp.Expr | None) -> exp.Expr:
        negation = "NOT " if self._match(T.NOT) else ""
        if self.accept("DISTINCT", "FROM"):
            kind = exp.NullSafeEQ if negation else exp.NullSafeNEQ
            return self.expression(kind(this=this, expression=self._predicates(_COMPARISON + 1)))
        if self.accept("JSON"):
            word = self.take().text.upper() if self.at_any("VALUE", "OBJECT", "ARRAY", "SCALAR") else "VALUE"
            found = self.expression(nodes.Special(this="IS JSON", expressions=[this, exp.Var(this=word)]))
            return self.expression(exp.Not(this=found)) if negation else found
        if self.at_any("NULL", "TRUE", "FALSE", "UNKNOWN"):
            return self.expression(nodes.Predicate(this=this, words=f"IS {negation}{self.take().text.upper()}"))
        raise self.error("expected NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON behind IS")

    def _range(self, left: exp.Expr) -> exp.Expr:
        kind = self.take().token_type
        if kind is T.IN:
            return self._in_list(left)
        if kind is T.BETWEEN:
            symmetric = self.accept("SYMMETRIC")
            if not symmetric:
                self.accept("ASYMMETRIC")
            low = self._predicates(_IS)
            while self._match(T.OR):  # All up to AND is the lower bound.
                low = self.expression(exp.Or(this=low, expression=self._predicates(_IS)))
            self.expect("AND")
            high = self._predicates(_RANGE + 1)
            return self.expression(exp.Between(this=left, low=low, high=high, symmetric=symmetric))
        pattern = self._predicates(_RANGE + 1)
        like = exp.Like if kind is T.LIKE else exp.SimilarTo
        found: exp.Expr = self.expression(like(this=left, expression=pattern))
        if self._match(T.ESCAPE):
            found = self.expression(exp.Escape(this=found, expression=self._predicates(_RANGE + 1)))
        return found

    def _in_list(self, left: exp.Expr) -> exp.Expr:
        if not self.at("("):
            raise self.error("expected ( behind IN")
        if self.at_query(1):
            query = self.parenthesised_query()
            return self.expression(exp.In(this=left, query=exp.Subquery(this=query)))
        self._advance()
        members = self._parse_csv(self._parse_disjunction)
        self.expect(")")
        return self.expression(exp.In(this=left, expressions=members))

    # Operands.

    def _parse_unary(self) -> exp.Expr:
        signs: list[Token] = []
        while self._curr.token_type in (T.PLUS, T.DASH):
            self.deeper(len(signs))
            signs.append(self.take())
        found = self._parse_type()
        for token in reversed(signs):
            sign = exp.Neg if token.token_type is T.DASH else exp.Paren
            found = self.expression(sign(this=found), token)
        return found

    def _parse_type(self, parse_interval: bool = True, fallback_to_identifier: bool = False) -> exp.Expr:
        """An operand with the indexes and fields behind it."""
        token, found, depth = self._curr, self.one(self._operand), 0
        if token.token_type is T.L_PAREN and self.at_unit():
            if isinstance(found, exp.Paren) and isinstance(found.this, exp.Sub):
                found = self.difference(found, token)
            else:
                hint = f"Write AS in front of the alias {self.shown()}, and it in backticks."
                self.not_flinks(f"{self.shown()} behind what is no difference of times", hint)
        while True:
            if self._match(T.L_BRACKET):
                index = self.one()
                self.expect("]")
                found = self.expression(exp.Bracket(this=found, expressions=[index]), token)
            elif self._curr.token_type is T.DOT and not isinstance(found, exp.Column | exp.Star):
                self._advance()
                found = self.expression(exp.Dot(this=found, expression=self.name_node("a field's name")), token)
            else:
                return found
            depth = self.deeper(depth)

    def _operand(self) -> exp.Expr | None:
        token = self._curr
        read = _LITERALS.get(token.token_type)
        if read is not None:
            return read(self, token)
        word = token.text.upper()
        if token.token_type is T.VAR:
            if word in CHARACTER_SETS and self._next.token_type is T.STRING and self._next.start == token.end + 1:
                self._advance()
                return self._text_operand(token)
            if word == "DECIMAL" and self._next.token_type in TEXTS:
                self._advance()
                return self.decimal(token)
            if word in _TEMPORAL and self._next.token_type in TEXTS:
                self._advance()
                text = self.text("a literal")
                constant = literals.temporal(word, text, self.source.position(token.start), is_stored=self.is_stored)
                return self.expression(nodes.Temporal(this=constant), token)
            if word == "INTERVAL" and self.at_interval():
                return self.interval(token)
            if word == "UNKNOWN":
                self._advance()
                return self.expression(exp.Cast(this=exp.Null(), to=nodes.Type(this=t.BOOLEAN)), token)
        if word in ("ARRAY", "MAP") and token.token_type is T.VAR and self._next.token_type is T.L_BRACKET:
            self._advance(2)
            members = [] if self.at("]") else self._parse_csv(self._parse_disjunction)
            self.expect("]")
            return self.expression(nodes.Special(this=word, expressions=members), token)
        if word in BARE and token.token_type is not T.IDENTIFIER and self._next.token_type not in (T.L_PAREN, T.DOT):
            self._advance()
            return self.expression(nodes.Special(this=word), token)
        return self.call() or self._parse_column()

    def _parse_column(self) -> exp.Expr | None:
        token = self._curr
        if not self.at_name():
            return None
        self._check_column()
        parts: list[exp.Expr] = [self.name_node("a column")]
        while self._match(T.DOT):
            if self._curr.token_type is T.STAR:
                parts.append(self.expression(exp.Star(), self.take()))
                break
            self.deeper(len(parts) - 1)
            parts.append(self.name_node("a column or field"))
        found: exp.Expr = self.expression(
            exp.Column(**dict(zip(("this", "table", "db", "catalog"), reversed(parts[:4]), strict=False))), token
        )
        for field in parts[4:]:  # fields of fields
            found = exp.Dot(this=found, expression=field)
        return self.expression(found, token)

    def _check_column(self) -> None:
        """Refuse a reserved word as a column; DEFAULT may be a whole argument or a value of a row."""
        word = self._curr.text.upper()
        if self._curr.token_type is not T.VAR or word not in _NO_COLUMNS:
            return
        begun, ended = self.ahead(-1).token_type, self._next.token_type
        if word != "DEFAULT" or begun not in (T.L_PAREN, T.COMMA, T.DISTINCT) or ended not in _ENDS:
            self.not_flinks(f"{word} as a column", "It is reserved; as a name write it in backticks.")

    def _parse_paren(self) -> exp.Expr:
        token = self._curr
        if self.at_query(1):
            return self.expression(exp.Subquery(this=self.parenthesised_query()), token)
        self._advance()
        members = self._parse_csv(self._parse_disjunction)
        self.expect(")")
        if len(members) == 1:
            return self.expression(exp.Paren(this=members[0]), token)
        return self.expression(exp.Tuple(expressions=members), token)

    def _parse_case(self) -> exp.Expr:
        token = self.take()
        subject = None if self.at("WHEN") else self.one()
        cases: list[exp.If] = []
        while self._match(T.WHEN):
            tests = self._parse_csv(self._parse_disjunction) if subject else [self.one()]
            self.expect("THEN")
            cases.append(self.expression(exp.If(this=exp.Tuple(expressions=tests), true=self.one())))
        if not cases:
            raise self.error("expected WHEN")
        default = self.one() if self._match(T.ELSE) else None
        self.expect("END")
        return self.expression(exp.Case(this=subject, ifs=cases, default=default), token)

    def _text_operand(self, token: Token) -> exp.Expr:
        parts = [self.text("a text")]
        while self._curr.token_type in TEXTS:
            parts.append(self.text("a text"))
        return self.expression(exp.Literal.string("".join(parts)), token)

    def _taken(self, node: exp.Expr, token: Token) -> exp.Expr:
        self._advance()
        return self.expression(node, token)

    def _number(self, token: Token) -> exp.Expr:
        if len(token.text) > literals.SURE_DIGITS and not self.is_stored:
            literals.check_range(token.text, self._is_negated(), self.source.position(token.start))
        return self._taken(exp.Literal(this=token.text, is_string=False), token)

    def _is_negated(self) -> bool:
        """Whether a minus stands before the next token, parentheses apart."""
        at = -1
        while self.ahead(at).token_type is T.L_PAREN:
            at -= 1
        return self.ahead(at).token_type is T.DASH

    def _exists(self, token: Token) -> exp.Expr | None:
        if self._next.token_type is not T.L_PAREN:
            return None
        self._advance()
        return self.expression(exp.Exists(this=self.parenthesised_query()), token)


_TEMPORAL = ("DATE", "TIME", "TIMESTAMP")
_NO_COLUMNS = ("DEFAULT", "NULLIF", "SOME")
CHARACTER_SETS = ("_UTF8", "_UTF16", "_LATIN1")
"""Of texts such as _UTF8'…'; all become characters."""
_LITERALS: dict[T, Callable[[Expressions, Token], exp.Expr | None]] = {
    T.NUMBER: Expressions._number,
    T.STRING: Expressions._text_operand,
    T.UNICODE_STRING: Expressions._text_operand,
    T.BYTE_STRING: Expressions._text_operand,
    T.NATIONAL_STRING: Expressions._text_operand,
    T.HEX_STRING: lambda self, token: self._taken(exp.HexString(this=token.text.lower()), token),
    T.NULL: lambda self, token: self._taken(exp.Null(), token),
    T.TRUE: lambda self, token: self._taken(exp.Boolean(this=True), token),
    T.FALSE: lambda self, token: self._taken(exp.Boolean(this=False), token),
    T.STAR: lambda self, token: self._taken(exp.Star(), token),
    T.L_PAREN: lambda self, _: self._parse_paren(),
    T.CASE: lambda self, _: self._parse_case(),
    T.EXISTS: Expressions._exists,
}
"""How an operand is read that begins with such a token."""
