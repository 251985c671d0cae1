"""Intervals in all of Flink's forms, and numbers in quotes."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from execnodes.core.errors import Position
from planner.sql import literals, nodes
from planner.sql.cursor import NAMES, TEXTS
from planner.sql.forms import Forms


class Intervals(Forms):
    """The part of the parser that reads intervals."""

    def at_unit(self) -> bool:
        """Whether a unit of an interval comes next."""
        return self._curr.token_type is T.VAR and literals.is_unit(self._curr.text)

    def decimal(self, token: Token) -> exp.Expr:
        """``DECIMAL '1.5'``: the number as it is written."""
        position, text = self.here, self.text("a number").strip()
        constant = literals.decimal(text, position)
        if not self.is_stored:
            literals.check_range(str(constant.literal.value).lstrip("-"), text.startswith("-"), position)
        return self.expression(nodes.Temporal(this=constant), token)

    def at_interval(self) -> bool:
        """Whether INTERVAL begins a literal, or an amount with its unit, rather than being a name."""
        if self._next.token_type in (*TEXTS, T.NUMBER, T.DASH, T.PLUS, T.L_PAREN):
            return True
        at = 1
        while self.ahead(at).token_type in NAMES and self.ahead(at + 1).token_type is T.DOT:
            at += 2
        return self.ahead(at).token_type in NAMES and literals.is_unit(self.ahead(at + 1).text)

    def interval(self, token: Token) -> exp.Expr:
        """``INTERVAL [sign] 'text' unit [TO unit]``, ``INTERVAL [sign] amount unit``."""
        position = self.source.position(token.start)
        self._advance()
        negative = self._match(T.DASH)
        if not negative:
            self._match(T.PLUS)
        if not self.at_text():
            return self._amount(negative, position, token)
        text = self.text("an interval")
        first, given = self.unit()
        last, fraction = self._last_unit(first) if self.accept("TO") else (first, given[1:])
        digits = None if self.is_stored else literals.Digits(*(given[:1] or (2,)), *fraction)
        constant = literals.interval(text, first, last, negative, position, digits)
        return self.expression(nodes.Temporal(this=constant), token)

    def _last_unit(self, first: str) -> tuple[str, tuple[int, ...]]:
        """The unit behind TO: another one, of which only SECOND has digits, those of its fraction."""
        token, place = self.token, self.place
        last, digits = self.unit()
        if last == first:
            self.not_flinks(f"INTERVAL {first} TO {last}", f"Write INTERVAL '…' {first}.", token)
        written = self.text_since(place)
        if ("(" in written and last != "SECOND") or "," in written:
            self.not_flinks(f"{written} behind TO", "Only SECOND has digits there, those of its fraction.", token)
        return last, digits

    def _amount(self, negative: bool, position: Position, token: Token) -> exp.Expr:
        """A number, a column or an expression in parentheses, then a unit."""
        if self._curr.token_type is T.NUMBER:
            amount = str(self.whole_number("an interval in single quotes"))
            unit, _ = self.unit()
            constant = literals.interval(amount, unit, unit, negative, position)
            return self.expression(nodes.Temporal(this=constant), token)
        found = self._parse_paren() if self.at("(") else self._parse_column()
        if found is None:
            raise self.error("expected an interval in single quotes", "Write e.g. INTERVAL '5' SECOND.")
        unit, _ = self.unit()
        one = nodes.Temporal(this=literals.interval("1", unit, unit, negative, position))
        return self.expression(nodes.Special(this="*", expressions=[found, self.expression(one, token)]), token)

    def difference(self, found: exp.Expr, token: Token) -> exp.Expr:
        """``(time - time) unit [TO unit]``."""
        unit, _ = self.unit()
        if self.accept("TO"):
            self.unit()
        times = found.this
        return self.expression(
            nodes.Special(this="- INTERVAL", expressions=[exp.Var(this=unit), times.this, times.expression]), token
        )
