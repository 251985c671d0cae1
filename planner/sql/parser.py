"""Queries: WITH, set operations, SELECT and FROM, with no clause and no order of clauses that Flink does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from execnodes.core.errors import SqlError
from planner.sql import nodes
from planner.sql.foreign import BEHIND_TABLES
from planner.sql.match_recognize import Patterns

_SETS: dict[T, type[exp.SetOperation]] = {T.UNION: exp.Union, T.EXCEPT: exp.Except, T.INTERSECT: exp.Intersect}
_OF_FROM = ("WHERE", "GROUP", "GROUP BY", "HAVING", "WINDOW", "QUALIFY")
"""Clauses that stand behind FROM only."""
_MOST_PARTS = 3
_TOO_MANY_PARTS = "a table has at most three names: catalog, database and table"
_SEMI = "Write [NOT] EXISTS (SELECT …)."


class FlinkParser(Patterns):
    """Flink's SQL to sqlglot's tree."""

    def query_node(self) -> nodes.Query:
        """``[WITH …] body [ORDER BY …] [LIMIT …] [OFFSET …] [FETCH …]``."""
        token = self.token
        with_, body, order = self._parse_with(), self._unions(), self._parse_order()
        offset, fetch = self._limits()
        if isinstance(body, nodes.Query) and with_ is None and order is None and offset == 0 and fetch is None:
            return body
        return self.expression(nodes.Query(this=body, with_=with_, order=order, offset=offset, fetch=fetch), token)

    def _parse_with(self, skip_with_token: bool = False) -> exp.With | None:
        token = self.token
        if not self._match(T.WITH):
            return None
        if self.at("RECURSIVE"):
            raise self.unsupported("WITH RECURSIVE", "Write the steps as views.")
        return self.expression(exp.With(expressions=self._parse_csv(self._parse_cte)), token)

    def _parse_cte(self) -> exp.CTE:
        token, name = self.token, self.name_node("a name for the query")
        columns = self.name_nodes("a column") if self.at("(") else None
        self.expect("AS")
        alias = exp.TableAlias(this=name, columns=columns)
        return self.expression(exp.CTE(this=self.parenthesised_query(), alias=alias), token)

    def name_nodes(self, what: str) -> list[exp.Identifier]:
        """Names in parentheses."""
        return list(self.parenthesised(lambda: self.name_node(what)))

    def _limits(self) -> tuple[int, int | None]:
        """``LIMIT n [OFFSET m]`` or ``[OFFSET m [ROWS]] [FETCH NEXT n ROWS ONLY]``."""
        limited, fetch = self._match(T.LIMIT), None
        if limited and not self._match(T.ALL):
            fetch = self.whole_number("the number of rows")
        offset = self._skipped()
        if not limited and self._match(T.FETCH):
            fetch = self._fetched()
        if self._curr.token_type in (T.LIMIT, T.OFFSET, T.FETCH):
            hint = "Write LIMIT n OFFSET m, or OFFSET m ROWS FETCH NEXT n ROWS ONLY."
            raise self.error("expected the end of the query", hint)
        return offset, fetch

    def _skipped(self) -> int:
        if not self._match(T.OFFSET):
            return 0
        offset = self.whole_number("the number of rows")
        if not self.accept("ROWS"):
            self.accept("ROW")
        return offset

    def _fetched(self) -> int:
        if not self.accept("FIRST"):
            self.expect("NEXT")
        fetch = self.whole_number("the number of rows")
        if not self.accept("ROWS"):
            self.expect("ROW")
        self.expect("ONLY")
        return fetch

    # Set operations: INTERSECT binds tighter; each chain is a loop, so that it may be long.

    def _unions(self) -> exp.Expr:
        left = self._intersections()
        while self._curr.token_type in (T.UNION, T.EXCEPT):
            left = self._set_operation(left, _SETS[self._curr.token_type], self._intersections)
        return left

    def _intersections(self) -> exp.Expr:
        left = self._term()
        while self._curr.token_type is T.INTERSECT:
            left = self._set_operation(left, exp.Intersect, self._term)
        return left

    def _set_operation(self, left: exp.Expr, kind: type[exp.SetOperation], operand: Callable[[], exp.Expr]) -> exp.Expr:
        if self.at("MINUS"):
            self.not_flinks("MINUS", "Write EXCEPT.")
        self._advance()
        keeps = self._match(T.ALL)
        if not keeps:
            self._match(T.DISTINCT)
        return self.expression(kind(this=left, expression=operand(), distinct=not keeps))

    def _term(self) -> exp.Expr:
        token = self.token
        match token.token_type:
            case T.L_PAREN:
                return self.parenthesised_query()
            case T.VALUES:
                self._advance()
                return self.expression(exp.Values(expressions=self._parse_csv(self._parse_value)), token)
            case T.TABLE if self._next.token_type is not T.L_PAREN:
                self._advance()
                return self._parse_table_parts()
            case T.SELECT:
                return self._select()
        raise self.error("expected SELECT, VALUES or WITH")

    def _parse_value(self, values: bool = True) -> exp.Tuple:
        token = self.token
        if self.at("ROW", "("):
            self._advance()
        if self.at("(") and not self.at_query():
            self._advance()
            members = self._parse_csv(self._parse_disjunction)
            self.expect(")")
        else:
            members = [self.one()]
        return self.expression(exp.Tuple(expressions=members), token)

    # SELECT.

    def _select(self) -> exp.Select:
        token = self.take()
        hint = self._parse_hint()
        if self.at("STREAM"):
            raise self.unsupported("SELECT STREAM", "Write SELECT.")
        distinct = self._match(T.DISTINCT)
        if not distinct:
            self._match(T.ALL)
        found = exp.Select(
            hint=hint, distinct=exp.Distinct() if distinct else None, expressions=self._parse_csv(self._item)
        )
        if self._match(T.FROM):
            found.set("from_", exp.From(this=self._relations()))
        elif self.at_any(*_OF_FROM):
            self.not_flinks(f"{self.shown().upper()} without FROM", "Read rows first: FROM (VALUES (1)).")
        for key, parse in (("where", self._parse_where), ("group", self._parse_group), ("having", self._parse_having)):
            found.set(key, parse())
        if self._match(T.WINDOW):
            found.set("windows", self._parse_csv(self.named_window))
        found.set("qualify", self._parse_qualify())
        return self.expression(found, token)

    def _item(self) -> exp.Expr:
        token, this, unmarked = self.token, self.one(), not self.at("AS")
        alias = self._alias_name()
        if alias is None:
            return this
        alias.meta[nodes.UNMARKED] = unmarked
        return self.expression(exp.Alias(this=this, alias=alias), token)

    def _alias_name(self) -> exp.Identifier | None:
        """``[AS] name``."""
        return self.name_node("an alias") if self._match(T.ALIAS) else self._parse_id_var()

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        token = self.token
        if self.at("GROUP"):
            self._advance()
            self.expect("BY")
        if not self._match(T.GROUP_BY):
            return None
        if self.at_any("ALL", "DISTINCT"):
            raise self.unsupported(f"GROUP BY {self.token.text.upper()}", "Name the keys.")
        return self.expression(exp.Group(expressions=self._parse_csv(self._group_item)), token)

    def _group_item(self) -> exp.Expr:
        token = self.token
        if self.at("(", ")"):
            self._advance(2)
            return self.expression(exp.GroupingSets(expressions=[exp.Tuple()]), token)
        return self._sets() or self.one()

    def _sets(self) -> exp.Expr | None:
        token = self.token
        if self._match(T.GROUPING_SETS):
            members = self.parenthesised(lambda: self._sets() or self._set())
            return self.expression(exp.GroupingSets(expressions=list(members)), token)
        for kind, node in ((T.ROLLUP, exp.Rollup), (T.CUBE, exp.Cube)):
            if self._match_pair(kind, T.L_PAREN, advance=False):
                self._advance()
                return self.expression(node(expressions=list(self.parenthesised(self._set))), token)
        return None

    def _set(self) -> exp.Tuple:
        token = self.token
        if self.at_any("ROLLUP", "CUBE") and self.ahead(1).token_type is T.L_PAREN:
            self.not_flinks(f"{self.shown().upper()} inside ROLLUP or CUBE", "Put both into GROUPING SETS (…).")
        if self.accept("(", ")"):
            return self.expression(exp.Tuple(), token)
        if self.at("(") and not self.at_query():
            return self.expression(exp.Tuple(expressions=list(self.parenthesised(self.one))), token)
        return self.expression(exp.Tuple(expressions=[self.one()]), token)

    # FROM: tables, subqueries, joins, table functions, UNNEST and their aliases.

    def _relations(self) -> exp.Expr:
        token, found = self.token, self._joined()
        others: list[exp.Expr] = []
        while self._match(T.COMMA):
            others.append(self._joined())
        return self.expression(nodes.Relations(this=found, expressions=others), token)

    def _joined(self) -> nodes.Joined:
        token, first = self.token, self._parse_table()
        return self.expression(nodes.Joined(this=first, expressions=list(self._joins())), token)

    def _joins(self) -> Iterator[exp.Join]:
        while True:
            token = self.token
            natural = self._match(T.NATURAL)
            kind = self._join_kind()
            if kind is None:
                if natural:
                    raise self.error("expected JOIN behind NATURAL")
                return
            right = self._parse_table()
            join = exp.Join(this=right, kind=kind, method="NATURAL" if natural else None)
            if self._match(T.ON):
                join.set("on", self.one())
            elif self._match(T.USING):
                join.set("using", self.name_nodes("a column"))
            elif not natural and kind != "CROSS" and not isinstance(right, nodes.Unnest):
                raise self.error("expected ON or USING behind a join", "A join without condition is CROSS JOIN.")
            yield self.expression(join, token)

    def _join_kind(self) -> str | None:
        if self._match(T.JOIN) or self._match_pair(T.INNER, T.JOIN):
            return "INNER"
        if self._match_pair(T.CROSS, T.JOIN):
            return "CROSS"
        for kind in (T.LEFT, T.RIGHT, T.FULL):
            if self._curr.token_type is kind and self.ahead(1).text.upper() in ("JOIN", "OUTER", "SEMI", "ANTI"):
                self._advance()
                if self.at_any("SEMI", "ANTI"):
                    raise self.unsupported(f"{kind.name} {self.token.text.upper()} JOIN", _SEMI)
                self._match(T.OUTER)
                self.expect("JOIN")
                return kind.name
        return None

    def _parse_table(self, *_: object, **__: object) -> exp.Expr:
        token, lateral = self.token, self._match(T.LATERAL)
        if self._match_pair(T.UNNEST, T.L_PAREN):
            collection = self.one()
            self.expect(")")
            ordinality = self._match_pair(T.WITH, T.ORDINALITY)
            return self.expression(
                nodes.Unnest(this=collection, ordinality=ordinality, alias=self._parse_table_alias()), token
            )
        if self._match_pair(T.TABLE, T.L_PAREN):
            function = self._table_function()
            self.expect(")")
            return self._aliased(function)
        if self.at("("):
            return self._parenthesised(lateral)
        called = self._next.token_type is T.L_PAREN and self.at_name()
        if called and (lateral or token.token_type is not T.IDENTIFIER):
            return self._aliased(self._table_function())
        if lateral:
            raise self.error("expected UNNEST, TABLE or ( behind LATERAL")
        table = self._parse_table_parts()
        if self.at("FOR", "SYSTEM_TIME"):
            self._advance(2)
            self.expect("AS")
            self.expect("OF")
            table.set("when", self.one())
        return self._aliased(table)

    def _parse_table_parts(self, *_: object, **__: object) -> exp.Table:
        """A table with its hints, no alias."""
        token, parts = self.token, [self.name_node("a table")]
        while self._match(T.DOT):
            parts.append(self.name_node("a table"))
            if len(parts) > _MOST_PARTS:
                raise SqlError(_TOO_MANY_PARTS, position=self.source.position(token.start))
        end = self.end
        found = self.expression(exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))), token)
        found.meta["end"] = end
        found.set("hints", self._parse_hint())
        return found

    def _parenthesised(self, lateral: bool) -> exp.Expr:
        token = self.token
        if self.at_query(1):
            found = self.expression(exp.Subquery(this=self.parenthesised_query()), token)
            found.meta["lateral"] = lateral
            return self._aliased(found)
        self._advance()
        inner = self._relations()
        self.expect(")")
        is_join = inner.this.expressions or isinstance(inner.this.this, nodes.Relations)
        if inner.expressions or not is_join:
            self.not_flinks("what is neither a query nor a JOIN in parentheses", "Leave the parentheses out.", token)
        if self.at("AS"):
            raise self.unsupported("an alias of a join in parentheses", "Write (SELECT * FROM …) AS alias.")
        return inner

    def _aliased(self, relation: exp.Expr) -> exp.Expr:
        matched = isinstance(relation, exp.Table | exp.Subquery)
        if not (matched and self.at("MATCH_RECOGNIZE")):
            self._no_clause()
            relation.set("alias", self._parse_table_alias())
        if matched and self.at("MATCH_RECOGNIZE"):
            found = self.match_recognize(relation)
            found.set("alias", self._parse_table_alias())
            relation = found
        self._no_clause()
        return relation

    def _no_clause(self) -> None:
        if self.at("MATCH_RECOGNIZE"):
            hint = "Put them into a subquery: (SELECT * FROM …) MATCH_RECOGNIZE (…)."
            raise self.unsupported("MATCH_RECOGNIZE behind what is neither a table nor a subquery", hint)
        if self.at("TABLESAMPLE") or (self.at_any("PIVOT", "UNPIVOT") and self.ahead(1).text == "("):
            raise self.unsupported(self.token.text.upper(), BEHIND_TABLES[self.token.text.upper()])
        if self.at_any("ASOF", "SEMI", "ANTI") and self.ahead(1).token_type is T.JOIN:
            hint = _SEMI if not self.at("ASOF") else "Join on a range of times, and keep the newest by ROW_NUMBER."
            raise self.unsupported(f"{self.token.text.upper()} JOIN", hint)

    def _parse_table_alias(self, alias_tokens: object = None) -> exp.TableAlias | None:
        """``[AS] name [(column, …)]``."""
        token, name = self.token, self._alias_name()
        if name is None:
            return None
        columns = self.name_nodes("a column") if self.at("(") else None
        return self.expression(exp.TableAlias(this=name, columns=columns), token)

    def _table_function(self) -> nodes.TableFunction:
        """``f(argument, …)``."""
        token, name = self.token, ".".join(self.path("a table function"))
        self.expect("(")
        args = [] if self.at(")") else self._parse_csv(self._argument)
        self.expect(")")
        return self.expression(nodes.TableFunction(this=name, expressions=args), token)

    def _argument(self) -> exp.Expr:
        token = self.token
        if self._next.token_type is T.FARROW:
            name = self.name_node("an argument's name")
            self._advance()
            return self.expression(exp.Kwarg(this=name, expression=self._argument_value(token)), token)
        return self._argument_value(token)

    def _argument_value(self, token: Token) -> exp.Expr:
        table = self.token
        if self._match(T.TABLE):
            query = self._match(T.L_PAREN, advance=False)
            return self._partitioned(self.parenthesised_query() if query else self._parse_table_parts(), table)
        if self.at("DESCRIPTOR", "("):
            self._advance()
            return self.expression(nodes.Descriptor(expressions=self.name_nodes("a column")), token)
        if self.at("(") and self.at_query(1):
            return self._partitioned(self.parenthesised_query(), token)
        return self.one()

    def _partitioned(self, relation: exp.Expr, token: Token) -> nodes.TableArgument:
        keys: list[exp.Expr] = []
        if self.at("PARTITION"):
            self._advance()
            self.expect("BY")
        if self._match(T.PARTITION_BY):
            if self.at("("):
                keys = list(self.parenthesised(self.one))
            else:
                keys = [self.one()]
                while self.at(",") and not self._next_argument():
                    self._advance()
                    keys.append(self.one())
        return self.expression(nodes.TableArgument(this=relation, partition=keys), token)

    def _next_argument(self) -> bool:
        return self.ahead(2).token_type is T.FARROW or (
            self.ahead(1).text.upper() == "DESCRIPTOR" and self.ahead(2).token_type is T.L_PAREN
        )
