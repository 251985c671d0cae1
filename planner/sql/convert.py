"""Expressions of sqlglot's tree to Rekindle's syntax; what is set and not read is an error at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from typing import Literal as Tag

from sqlglot import exp

from execnodes.core import types as t
from execnodes.core.errors import Position, SqlError
from planner import syntax as s
from planner.sql import literals, nodes
from planner.sql.source import Source

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.EQ: "=", exp.NEQ: "<>",
    exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.Like: "LIKE", exp.SimilarTo: "SIMILAR TO",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
}  # fmt: skip
_CONNECTORS: dict[type[exp.Expr], str] = {exp.And: "AND", exp.Or: "OR"}
_BY_DIALECT = ("typed", "safe")
"""Arguments of a division that sqlglot sets by dialect, not by what was written."""
_INSTEAD: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.AtTimeZone: ("AT TIME ZONE", "Write CONVERT_TZ(text, from, to), or set 'table.local-time-zone'."),
}


class Expressions:
    """Converts expressions of one script."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def query(self, node: exp.Expr) -> s.Query:
        """A query; the converter of queries says how."""
        raise NotImplementedError

    def at(self, node: exp.Expr, default: Position = s.NOWHERE) -> Position:
        """A node's place; what the parser made up has that of what it belongs to."""
        start = node.meta_get("start")
        return default if start is None else self.source.position(start)

    def refuse(self, what: str, node: exp.Expr, hint: str | None = None) -> SqlError:
        """An error for a part of the tree that Flink's SQL has not."""
        return SqlError(f"{what} is not supported", position=self.at(node), hint=hint)

    def read(self, node: exp.Expr, *names: str) -> list[Any]:
        """These arguments of a node; SqlError at its place if another is set, so that nothing is dropped."""
        for name, value in node.args.items():
            if name not in names and name not in _BY_DIALECT and value not in (None, False, []):
                raise self.refuse(f"{name.rstrip('_').upper()} of {type(node).__name__}", node)
        return [node.args.get(name) for name in names]

    def name(self, node: exp.Identifier) -> str:
        """A name's text."""
        text: str = self.read(node, "this", "quoted")[0]
        return text

    def each(self, found: Iterable[exp.Expr], place: Position = s.NOWHERE) -> tuple[s.Expr, ...]:
        """Several expressions."""
        return tuple([self.expr(node, place) for node in found])

    def expr(self, node: exp.Expr, place: Position = s.NOWHERE) -> s.Expr:
        """An expression. What stands around its first operand is a loop, so that chains of operators may be long."""
        around: list[tuple[exp.Expr, list[exp.Expr]]] = []
        while (kind := type(node)) in _AROUND:
            outer, members = node, list[exp.Expr]()
            if kind in _CONNECTORS:
                while type(node) is kind:
                    left, right = self.read(node, "this", "expression")
                    members.append(right)
                    node = left
                members.reverse()
            else:
                node = node.args["this"]
            around.append((outer, members))
        found = self._operand(node, self.at(node, place))
        while around:
            outer, members = around.pop()
            found = _AROUND[type(outer)](self, outer, found, self.at(outer, place), members)
        return found

    # Around an operand that is converted already.

    def _connected(self, node: exp.Expr, first: s.Expr, here: Position, members: list[exp.Expr]) -> s.Expr:
        return s.Call(_CONNECTORS[type(node)], (first, *self.each(members)), position=here)

    def _in_parentheses(self, node: exp.Expr, inner: s.Expr, here: Position, _: object) -> s.Expr:
        self.read(node, "this")
        return inner

    def _binary(self, node: exp.Expr, left: s.Expr, here: Position, _: object) -> s.Expr:
        _, right = self.read(node, "this", "expression")
        return s.Call(_OPERATORS[type(node)], (left, self.expr(right)), position=here)

    def _not(self, node: exp.Expr, inner: s.Expr, here: Position, _: object) -> s.Expr:
        (operand,) = self.read(node, "this")
        if operand.meta_get("start") == node.meta_get("start"):  # x NOT IN (…): the NOT stands behind x
            if isinstance(inner, s.InQuery):
                return replace(inner, negated=True)
            if isinstance(inner, s.Call) and inner.name == "IN":
                return replace(inner, name="NOT IN")
        return s.Call("NOT", (inner,), position=here)

    def _negative(self, node: exp.Expr, operand: s.Expr, here: Position, _: object) -> s.Expr:
        self.read(node, "this")
        if isinstance(operand, s.Constant) and operand.literal.type.root in (*t.NUMERICS, *t.INTERVALS):
            return literals.negated(operand.literal, here)
        return s.Call("MINUS_PREFIX", (operand,), position=here)

    def _predicate(self, node: exp.Expr, operand: s.Expr, here: Position, _: object) -> s.Expr:
        _, words = self.read(node, "this", "words")
        return s.Call(words, (operand,), position=here)

    def _overlaps(self, node: exp.Expr, left: s.Expr, here: Position, _: object) -> s.Expr:
        _, right = self.read(node, "this", "expression")
        bounds: list[s.Expr] = []
        for period in (left, self.expr(right)):
            if not (isinstance(period, s.Call) and period.name == "ROW" and len(period.args) == 2):
                hint = "Write (begin, end) OVERLAPS (begin, end)."
                raise SqlError("OVERLAPS takes two periods", position=here, hint=hint)
            bounds += period.args
        return s.Call("OVERLAPS", tuple(bounds), position=here)

    def _in(self, node: exp.Expr, left: s.Expr, here: Position, _: object) -> s.Expr:
        _, members, query = self.read(node, "this", "expressions", "query")
        if query is None:
            return s.Call("IN", (left, *self.each(members)), position=here)
        values = left.args if isinstance(left, s.Call) and left.name == "ROW" else (left,)
        return s.InQuery(values, self.query(*self.read(query, "this")), False, position=here)

    def _quantified(self, node: exp.Expr, left: s.Expr, here: Position, _: object) -> s.Expr:
        _, sign, word, query = self.read(node, "this", "sign", "word", "query")
        found = self.query(*self.read(query, "this"))
        if (sign, word) in (("=", "SOME"), ("<>", "ALL")):
            return s.InQuery((left,), found, word == "ALL", position=here)
        return s.QuantifiedQuery(left, sign, word == "ALL", found, position=here)

    def _quantified_list(self, node: exp.Expr, left: s.Expr, here: Position, _: object) -> s.Expr:
        """Comparisons with each member; equality is IN."""
        _, sign, word, members = self.read(node, "this", "sign", "word", "expressions")
        found = self.each(members)
        if (sign, word) in (("=", "SOME"), ("<>", "ALL")):
            return s.Call("NOT IN" if word == "ALL" else "IN", (left, *found), position=here)
        compared = tuple([s.Call(sign, (left, each), position=here) for each in found])
        return compared[0] if len(compared) == 1 else s.Call("AND" if word == "ALL" else "OR", compared, position=here)

    def _between(self, node: exp.Expr, left: s.Expr, here: Position, _: object) -> s.Expr:
        _, low, high, symmetric = self.read(node, "this", "low", "high", "symmetric")
        return s.Call("BETWEEN SYMMETRIC" if symmetric else "BETWEEN", (left, *self.each((low, high))), position=here)

    def _escape(self, node: exp.Expr, like: s.Expr, here: Position, _: object) -> s.Expr:
        _, escape = self.read(node, "this", "expression")
        return replace(self._called(like, node), args=(*self._called(like, node).args, self.expr(escape)))

    def _item(self, node: exp.Expr, of: s.Expr, here: Position, _: object) -> s.Expr:
        _, (index,) = self.read(node, "this", "expressions")
        return s.Call("ITEM", (of, self.expr(index)), position=here)

    def _field(self, node: exp.Expr, of: s.Expr, here: Position, _: object) -> s.Expr:
        this, field = self.read(node, "this", "expression")
        if isinstance(of, s.Name) and not isinstance(this, exp.Paren):
            return s.Name((*of.parts, self.name(field)), position=here)
        return s.Access(of, self.name(field), position=here)

    def _called(self, found: s.Expr, node: exp.Expr) -> s.Call:
        if not isinstance(found, s.Call):
            raise self.refuse(type(node).__name__, node)
        return found

    def _over(self, node: exp.Expr, call: s.Expr, here: Position, _: object) -> s.Expr:
        return replace(self._called(call, node), over=self.window(node))

    def _filter(self, node: exp.Expr, call: s.Expr, here: Position, _: object) -> s.Expr:
        _, where = self.read(node, "this", "expression")
        condition = self.expr(*self.read(where, "this"))
        found = self._called(call, node)
        both = condition if found.filter is None else s.Call("AND", (found.filter, condition), position=here)
        return replace(found, filter=both)

    def _ignoring_nulls(self, node: exp.Expr, call: s.Expr, here: Position, _: object) -> s.Expr:
        """As with ``FILTER (WHERE argument IS NOT NULL)``."""
        self.read(node, "this")
        found = self._called(call, node)
        return replace(found, filter=s.Call("IS NOT NULL", found.args[:1], position=here)) if found.args else found

    def _within(self, node: exp.Expr, call: s.Expr, here: Position, _: object) -> s.Expr:
        _, order = self.read(node, "this", "expression")
        return replace(self._called(call, node), order=self.order(order))

    # Operands.

    def _operand(self, node: exp.Expr, here: Position) -> s.Expr:
        convert = _OPERANDS.get(type(node))
        if convert is None:
            what, hint = _INSTEAD.get(type(node), (type(node).__name__, None))
            raise SqlError(f"{what} is not supported", position=here, hint=hint)
        return convert(self, node, here)

    def _column(self, node: exp.Expr, here: Position) -> s.Expr:
        last, *path = self.read(node, "this", "table", "db", "catalog")
        parts = tuple([self.name(part) for part in reversed(path) if part is not None])
        if isinstance(last, exp.Star):
            return s.Star(parts, (node.meta["start"], last.meta["start"] + 1), position=here)
        return s.Name((*parts, self.name(last)), position=here)

    def _star(self, node: exp.Expr, here: Position) -> s.Expr:
        self.read(node)
        return s.Star((), (node.meta["start"], node.meta["start"] + 1), position=here)

    def _literal(self, node: exp.Expr, here: Position) -> s.Expr:
        text, is_text = self.read(node, "this", "is_string")
        return literals.text(text, here) if is_text else literals.numeric(text, here)

    def _binary_literal(self, node: exp.Expr, here: Position) -> s.Expr:
        (digits,) = self.read(node, "this")
        return literals.constant(digits, t.LogicalType(t.Root.BINARY, length=len(digits) // 2), here)

    def _temporal(self, node: exp.Expr, here: Position) -> s.Expr:
        constant: s.Constant = self.read(node, "this")[0]
        return constant

    def _row(self, node: exp.Expr, here: Position) -> s.Expr:
        return s.Call("ROW", self.each(*self.read(node, "expressions")), position=here)

    def _case(self, node: exp.Expr, here: Position) -> s.Expr:
        subject, cases, default = self.read(node, "this", "ifs", "default")
        left = self.expr(subject) if subject is not None else None
        operands: list[s.Expr] = []
        for case in cases:
            tests, value = self.read(case, "this", "true")
            found = self.each(*self.read(tests, "expressions"))
            if left is not None:
                found = tuple([s.Call("=", (left, each), position=each.position) for each in found])
            operands += [
                found[0] if len(found) == 1 else s.Call("OR", found, position=found[0].position),
                self.expr(value),
            ]
        operands.append(self.expr(default) if default is not None else literals.null(here))
        return s.Call("CASE", tuple(operands), position=here)

    def _cast(self, node: exp.Expr, here: Position) -> s.Expr:
        operand, to = self.read(node, "this", "to")
        name = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
        return s.Call(name, (self.expr(operand, here),), result=self.read(to, "this")[0], position=here)

    def _scalar_query(self, node: exp.Expr, here: Position) -> s.Expr:
        return s.ScalarQuery(self.query(*self.read(node, "this")), position=here)

    def _exists(self, node: exp.Expr, here: Position) -> s.Expr:
        return s.ExistsQuery(self.query(*self.read(node, "this")), position=here)

    def _special(self, node: exp.Expr, here: Position) -> s.Expr:
        name, args, returning, on_null = self.read(node, "this", "expressions", "returning", "on_null")
        result = self.read(returning, "this")[0] if returning is not None else None
        options = (("onNull", on_null),) if on_null else ()
        return s.Call(name, self.each(args or (), here), result=result, options=options, position=here)

    def _call(self, node: exp.Expr, here: Position) -> s.Expr:
        this, args = self.read(node, "this", "expressions")
        distinct = len(args) == 1 and isinstance(args[0], exp.Distinct)
        if distinct:
            (args,) = self.read(args[0], "expressions")
        star = not distinct and len(args) == 1 and isinstance(args[0], exp.Star)
        quoted = isinstance(this, exp.Identifier)
        name: str = self.name(this) if quoted else this
        if not quoted and name.upper() == "APPROX_COUNT_DISTINCT" and len(args) == 1 and not star:
            # The exact number is an approximation, too.
            name, distinct = "COUNT", True
        return s.Call(name, () if star else self.each(args), distinct=distinct, star=star, quoted=quoted, position=here)

    # Windows and order.

    def window(self, node: exp.Expr) -> s.WindowSpec:
        """A window specification, behind OVER or in WINDOW."""
        _, partition, order, spec, alias = self.read(node, "this", "partition_by", "order", "spec", "alias")
        lower = upper = None
        rows = False
        if spec is not None:
            kind, start, side, end, end_side = self.read(spec, "kind", "start", "start_side", "end", "end_side")
            rows = kind == "ROWS"
            lower, upper = self._bound(start, side), self._bound(end, end_side) if end is not None else None
        return s.WindowSpec(
            self.name(alias) if alias is not None else None,
            self.each(partition or ()),
            self.order(order),
            rows,
            lower,
            upper,
            position=self.source.position(node.meta["over"]),
        )

    def _bound(self, node: exp.Expr, side: Tag["PRECEDING", "CURRENT ROW", "FOLLOWING"]) -> s.FrameBound:
        value = None if isinstance(node, exp.Var) else self.expr(node)
        return s.FrameBound(side, value, position=self.at(node))

    def order(self, node: exp.Expr | None) -> tuple[s.OrderItem, ...]:
        """The members of ORDER BY."""
        if node is None:
            return ()
        found: list[s.OrderItem] = []
        for item in self.read(node, "expressions")[0]:
            this, desc, nulls = self.read(item, "this", "desc", "nulls_first")
            found.append(
                s.OrderItem(self.expr(this), not desc, nulls == "LAST" if nulls else None, position=self.at(item))
            )
        return tuple(found)


_Around = Callable[[Expressions, exp.Expr, s.Expr, Position, list[exp.Expr]], s.Expr]
_AROUND: dict[type[exp.Expr], _Around] = {
    **dict.fromkeys(_CONNECTORS, Expressions._connected),
    **dict.fromkeys(_OPERATORS, Expressions._binary),
    exp.Paren: Expressions._in_parentheses,
    exp.Not: Expressions._not,
    exp.Neg: Expressions._negative,
    nodes.Predicate: Expressions._predicate,
    nodes.Period: Expressions._overlaps,
    exp.In: Expressions._in,
    nodes.Quantified: Expressions._quantified,
    nodes.QuantifiedList: Expressions._quantified_list,
    exp.Between: Expressions._between,
    exp.Escape: Expressions._escape,
    exp.Bracket: Expressions._item,
    exp.Dot: Expressions._field,
    exp.Window: Expressions._over,
    exp.Filter: Expressions._filter,
    exp.IgnoreNulls: Expressions._ignoring_nulls,
    exp.WithinGroup: Expressions._within,
}
"""Nodes whose first operand is their argument `this`."""
_OPERANDS: dict[type[exp.Expr], Callable[[Expressions, exp.Expr, Position], s.Expr]] = {
    exp.Column: Expressions._column,
    exp.Star: Expressions._star,
    exp.Literal: Expressions._literal,
    exp.HexString: Expressions._binary_literal,
    exp.Null: lambda _, node, here: literals.null(here),
    exp.Boolean: lambda _, node, here: literals.constant(node.args["this"], t.BOOLEAN, here),
    exp.Var: lambda _, node, here: literals.symbol(node.name, here),
    nodes.Temporal: Expressions._temporal,
    exp.Tuple: Expressions._row,
    exp.Case: Expressions._case,
    exp.Cast: Expressions._cast,
    exp.TryCast: Expressions._cast,
    exp.Subquery: Expressions._scalar_query,
    exp.Exists: Expressions._exists,
    nodes.Special: Expressions._special,
    exp.Anonymous: Expressions._call,
}
"""Nodes that begin with themselves."""
