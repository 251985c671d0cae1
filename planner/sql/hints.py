"""Hints: ``/*+ OPTIONS('key' = 'value'), STATE_TTL('t' = '1d') */``."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType as T

from planner.sql import nodes
from planner.sql.expression_parser import Expressions


class Hints(Expressions):
    """The part of the parser that reads hints."""

    def _parse_hint(self) -> exp.Hint | None:
        found: list[exp.Expr] = []
        while self._match(T.HINT):
            while not self.accept("*/"):
                found.append(self._hint())
                if not self.at("*/"):
                    self.accept(",")
        return exp.Hint(expressions=found) if found else None

    def _hint(self) -> nodes.Hint:
        token, name = self.token, self.identifier("a hint").upper()
        options: tuple[nodes.HintOption, ...] = ()
        if not self.accept("(", ")") and self.at("("):
            options = self.parenthesised(self._hint_option)
            if len({option.expression is None for option in options}) > 1:
                self.not_flinks(
                    f"a hint {name} of pairs and single words", "Write 'key' = 'value', …, or names.", token
                )
        return self.expression(nodes.Hint(this=name, expressions=list(options)), token)

    def _hint_option(self) -> nodes.HintOption:
        if self.token.token_type is T.NUMBER:
            return nodes.HintOption(this=self.take().text)
        key = self.text("a key") if self.at_text() else ".".join(self.path("a key or a table"))
        return nodes.HintOption(this=key, expression=self.text("a value") if self.accept("=") else None)
