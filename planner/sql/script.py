"""The parser of statements: sqlglot's parser as the cursor, with queries and expressions converted as they are read."""

from __future__ import annotations

from planner import syntax as s
from planner.sql.parser import FlinkParser
from planner.sql.queries import Convert


class Script(FlinkParser):
    """A script that is being read."""

    def query(self) -> s.Query:
        """What SELECT, WITH, VALUES or a parenthesis begins, converted to our syntax."""
        return Convert(self.source).query(self.query_node())

    def expr(self) -> s.Expr:
        """An expression."""
        return Convert(self.source).expr(self.one())

    def hints(self) -> tuple[s.Hint, ...]:
        """The hints at this place."""
        return Convert(self.source).hints(self._parse_hint())
