"""MATCH_RECOGNIZE behind a table or a query, with the patterns that Flink looks for."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType as T

from planner.sql import nodes
from planner.sql.hints import Hints

_QUANTIFIERS = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}
_REFUSED = {
    "|": ("alternatives in a pattern", "Define one variable with OR, or write a query for each and UNION ALL."),
    "^": ("^ in a pattern", "A stream has no begin that a match could stand at."),
    "$": ("$ in a pattern", "A stream has no end that a match could stand at."),
    "{-": ("{- … -} in a pattern", "Leave the variable out of MEASURES."),
    "PERMUTE": ("PERMUTE", "Write a query for each order of the variables, and UNION ALL."),
}
_GROUP = "Repeat single variables, or look for the group once and count matches behind it."


class Patterns(Hints):
    """Parses MATCH_RECOGNIZE."""

    def match_recognize(self, relation: exp.Expr) -> nodes.MatchRecognize:
        """``MATCH_RECOGNIZE ( … )`` over a relation; its alias comes behind."""
        token = self.take()
        self.expect("(")
        found = nodes.MatchRecognize(this=relation)
        if self._match(T.PARTITION_BY):
            columns = self.parenthesised(self.one) if self.at("(") else self.listed(self.one)
            found.set("partition", list(columns))
        found.set("order", self._parse_order())
        self.expect("MEASURES")
        found.set("measures", self._parse_csv(self._measure))
        self._rows_per_match()
        found.set("after", self._after())
        self.expect("PATTERN")
        found.set("pattern", self._pattern())
        if self.accept("WITHIN"):
            found.set("within", self.one())
        if self.at("SUBSET"):
            raise self.unsupported("SUBSET", "Read the rows of all variables by a column without one.")
        self.expect("DEFINE")
        found.set("definitions", self._parse_csv(self._definition))
        self.expect(")")
        return self.expression(found, token)

    def _measure(self) -> exp.Expr:
        if self.at("RUNNING"):
            raise self.unsupported("RUNNING", "One row is given of a match, when it is complete.")
        if self.at("FINAL") and not (self.ahead(1).text in (".", "(", ",") or self.ahead(1).text.upper() == "AS"):
            self._advance()
        token, this = self.token, self.one()
        self.expect("AS")
        return self.expression(exp.Alias(this=this, alias=self.name_node("a name for the measure")), token)

    def _rows_per_match(self) -> None:
        if self.at("ALL", "ROWS", "PER", "MATCH"):
            raise self.unsupported("ALL ROWS PER MATCH", "Write ONE ROW PER MATCH, and FIRST, LAST or aggregates.")
        if self.accept("ONE"):
            self.expect("ROW", "PER", "MATCH")

    def _after(self) -> tuple[str, exp.Identifier | None]:
        """Where to go on; without the clause with the next row."""
        if not self.accept("AFTER"):
            return "TO NEXT ROW", None
        self.expect("MATCH", "SKIP")
        if self.accept("PAST"):
            self.expect("LAST", "ROW")
            return "PAST LAST ROW", None
        self.expect("TO")
        if self.accept("NEXT", "ROW"):
            return "TO NEXT ROW", None
        skip = "TO FIRST" if self.accept("FIRST") else "TO LAST"
        if skip == "TO LAST":
            self.accept("LAST")
        return skip, self.name_node("a variable of the pattern")

    def _pattern(self) -> list[nodes.PatternVariable]:
        """``(A B* (C D?))``: groups without a quantifier are what stands in them."""
        self.expect("(")
        found: list[nodes.PatternVariable] = []
        depth = 1
        while depth:
            if self.at(")") and not found:
                raise self.error("expected a variable of the pattern")
            if self.accept("("):
                depth = self.deeper(depth)
            elif self.accept(")"):
                depth -= 1
                if depth and (self.at_any(*_QUANTIFIERS) or self.at("{")):
                    raise self.unsupported("a quantifier behind a group", _GROUP)
            else:
                found.append(self._variable())
        return found

    def _variable(self) -> nodes.PatternVariable:
        word = "{-" if self.at("{", "-") else self.token.text.upper()
        if word in _REFUSED and self.token.token_type is not T.IDENTIFIER and (word != "PERMUTE" or self._calls()):
            raise self.unsupported(*_REFUSED[word])
        token, name = self.token, self.name_node("a variable of the pattern")
        least, most = self._quantifier()
        reluctant = (least, most) != (1, 1) and self.accept("?")
        return self.expression(nodes.PatternVariable(this=name, least=least, most=most, reluctant=reluctant), token)

    def _calls(self) -> bool:
        return self.ahead(1).text == "("

    def _quantifier(self) -> tuple[int, int]:
        for mark, bounds in _QUANTIFIERS.items():
            if self.accept(mark):
                return bounds
        if not self.at("{") or self.ahead(1).text == "-":
            return 1, 1
        self._advance()
        least = 0 if self.at(",") else self.whole_number("how many rows")
        most = least
        if self.accept(","):
            most = -1 if self.at("}") else self.whole_number("how many rows")
        self.expect("}")
        return least, most

    def _definition(self) -> nodes.Definition:
        token, name = self.token, self.name_node("a variable of the pattern")
        self.expect("AS")
        return self.expression(nodes.Definition(this=name, expression=self.one()), token)
