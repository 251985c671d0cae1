"""Queries of sqlglot's tree to Rekindle's syntax."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from execnodes.core.errors import SqlError
from planner import syntax as s
from planner.sql import nodes
from planner.sql.convert import Expressions

_MOST_CUBE, _MOST_ROLLUP = 12, 64
_Sets = tuple[tuple[s.Expr, ...], ...]


class Convert(Expressions):
    """Converts the queries and expressions of one script."""

    def query(self, node: exp.Expr) -> s.Query:
        """A whole query."""
        this, with_, order, offset, fetch = self.read(node, "this", "with_", "order", "offset", "fetch")
        items = () if with_ is None else tuple([self._with_item(item) for item in self.read(with_, "expressions")[0]])
        return s.Query(self.body(this), items, self.order(order), offset, fetch, position=self.at(node))

    def _with_item(self, node: exp.Expr) -> s.WithItem:
        this, alias = self.read(node, "this", "alias")
        name, columns = self.read(alias, "this", "columns")
        names = tuple([self.name(column) for column in columns or ()])
        return s.WithItem(self.name(name), names, self.query(this), position=self.at(node))

    def body(self, node: exp.Expr) -> s.Body:
        """What WITH and ORDER BY stand around. A chain of set operations is a loop, so that it may be long."""
        behind: list[exp.SetOperation] = []
        while isinstance(node, exp.SetOperation):
            behind.append(node)
            (node, *_) = self.read(node, "this", "expression", "distinct")
        found = self._term(node)
        for operation in reversed(behind):
            _, right, distinct = self.read(operation, "this", "expression", "distinct")
            here = self.at(operation)
            match operation:
                case exp.Union():
                    found = s.SetOperation("UNION", not distinct, found, self.body(right), position=here)
                case exp.Except():
                    found = s.SetOperation("EXCEPT", not distinct, found, self.body(right), position=here)
                case exp.Intersect():
                    found = s.SetOperation("INTERSECT", not distinct, found, self.body(right), position=here)
                case other:
                    raise self.refuse(type(other).__name__, other)
        return found

    def _term(self, node: exp.Expr) -> s.Body:
        match node:
            case nodes.Query():
                return self.query(node)
            case exp.Values():
                (rows,) = self.read(node, "expressions")
                return s.Values(
                    tuple([self.each(*self.read(row, "expressions")) for row in rows]), position=self.at(node)
                )
            case exp.Table():
                return self._table(node)
            case exp.Select():
                return self._select(node)
        raise self.refuse(type(node).__name__, node)

    # SELECT.

    def _select(self, node: exp.Select) -> s.Select:
        items, from_, where, group, having, qualify, distinct, windows, hint = self.read(
            node, "expressions", "from_", "where", "group", "having", "qualify", "distinct", "windows", "hint"
        )
        return s.Select(
            tuple([self._item_of(item) for item in items]),
            self._from(*self.read(from_, "this")) if from_ is not None else None,
            self._condition(where),
            self._group(group),
            self._condition(having),
            self._condition(qualify),
            distinct is not None,
            tuple([(self.name(window.args["this"]), self.window(window)) for window in windows or ()]),
            self.hints(hint),
            position=self.at(node),
        )

    def _item_of(self, node: exp.Expr) -> s.SelectItem:
        if not isinstance(node, exp.Alias):
            return s.SelectItem(self.expr(node), position=self.at(node))
        this, alias = self.read(node, "this", "alias")
        unmarked = self.at(alias) if alias.meta_get(nodes.UNMARKED) else None
        return s.SelectItem(self.expr(this), self.name(alias), unmarked, position=self.at(node))

    def _condition(self, node: exp.Expr | None) -> s.Expr | None:
        return None if node is None else self.expr(*self.read(node, "this"))

    def _group(self, node: exp.Expr | None) -> tuple[s.Expr | s.GroupingSets, ...] | None:
        if node is None:
            return None
        return tuple([self._group_item(member) for member in self.read(node, "expressions")[0]])

    def _group_item(self, node: exp.Expr) -> s.Expr | s.GroupingSets:
        if isinstance(node, exp.GroupingSets | exp.Cube | exp.Rollup):
            return s.GroupingSets(self._sets(node), position=self.at(node))
        return self.expr(node)

    def _sets(self, node: exp.Expr) -> _Sets:
        (members,) = self.read(node, "expressions")
        if isinstance(node, exp.Tuple):
            return (self.each(members or ()),)
        inner = [self._sets(member) for member in members]
        if isinstance(node, exp.GroupingSets):
            return tuple([each for member in inner for each in member])
        keys = [member[0] for member in inner]
        if isinstance(node, exp.Rollup):
            if len(keys) > _MOST_ROLLUP:
                raise SqlError(f"ROLLUP over {len(keys)} keys: at most {_MOST_ROLLUP}", position=self.at(node))
            return tuple([_flat(keys[:length]) for length in range(len(keys), -1, -1)])
        if len(keys) > _MOST_CUBE:
            raise SqlError(f"CUBE over {len(keys)} keys makes 2^{len(keys)} sets", position=self.at(node))
        masks = range(2 ** len(keys) - 1, -1, -1)
        return tuple([_flat([k for i, k in enumerate(reversed(keys)) if mask >> i & 1][::-1]) for mask in masks])

    # FROM.

    def _from(self, node: exp.Expr) -> s.Relation:
        first, others = self.read(node, "this", "expressions")
        left = self._joined(first)
        for other in others:
            left = s.Join(left, self._joined(other), "CROSS", position=self.at(node))
        return left

    def _joined(self, node: exp.Expr) -> s.Relation:
        first, joins = self.read(node, "this", "expressions")
        left = self.relation(first)
        for join in joins:
            this, kind, method, on, using = self.read(join, "this", "kind", "method", "on", "using")
            condition = self.expr(on) if on is not None else None
            columns = tuple([self.name(column) for column in using or ()])
            left = s.Join(left, self.relation(this), kind, condition, columns, bool(method), position=self.at(join))
        return left

    def relation(self, node: exp.Expr) -> s.Relation:
        """A member of FROM."""
        convert = _RELATIONS.get(type(node))
        if convert is None:
            raise self.refuse(type(node).__name__, node)
        return convert(self, node)

    def _table(self, node: exp.Expr) -> s.TableName:
        this, db, catalog, hints, when, alias = self.read(node, "this", "db", "catalog", "hints", "when", "alias")
        parts = tuple([self.name(part) for part in (catalog, db, this) if part is not None])
        span = (node.meta["start"], node.meta["end"])
        as_of = None if when is None else self.expr(when)
        return s.TableName(parts, self._alias(alias), self.hints(hints), span, as_of, position=self.at(node))

    def _derived(self, node: exp.Expr) -> s.Derived:
        this, alias = self.read(node, "this", "alias")
        lateral = bool(node.meta.get("lateral"))
        return s.Derived(self.query(this), self._alias(alias), lateral, position=self.at(node))

    def _unnest(self, node: exp.Expr) -> s.Unnest:
        this, ordinality, alias = self.read(node, "this", "ordinality", "alias")
        return s.Unnest(self.expr(this), ordinality, self._alias(alias), position=self.at(node))

    def _table_function(self, node: exp.Expr) -> s.TableFunction:
        name, args, alias = self.read(node, "this", "expressions", "alias")
        found = tuple([self._argument(argument) for argument in args])
        return s.TableFunction(name, found, self._alias(alias), position=self.at(node))

    def _argument(self, node: exp.Expr) -> s.Argument:
        name, value = self.read(node, "this", "expression") if isinstance(node, exp.Kwarg) else (None, node)
        here = self.at(node)
        found: s.Expr | s.TableArgument | s.Descriptor
        if isinstance(value, nodes.TableArgument):
            relation, keys = self.read(value, "this", "partition")
            there, table = self.at(value), isinstance(relation, exp.Table)
            of = self._table(relation) if table else s.Derived(self.query(relation), position=there)
            found = s.TableArgument(of, self.each(keys or ()), position=there)
        elif isinstance(value, nodes.Descriptor):
            (columns,) = self.read(value, "expressions")
            names = tuple([s.Name((self.name(column),), position=self.at(column)) for column in columns])
            found = s.Descriptor(names, position=self.at(value))
        else:
            found = self.expr(value)
        return s.Argument(found, self.name(name).upper() if name is not None else None, position=here)

    def _match_recognize(self, node: exp.Expr) -> s.MatchRecognize:
        this, partition, order, measures, (skip, variable), pattern, within, definitions, alias = self.read(
            node, "this", "partition", "order", "measures", "after", "pattern", "within", "definitions", "alias"
        )
        relation = self.relation(this)
        assert isinstance(relation, s.TableName | s.Derived)
        target = None if variable is None else s.Name((self.name(variable),), position=self.at(variable))
        return s.MatchRecognize(
            relation,
            self.each(partition or ()),
            self.order(order),
            tuple([self._item_of(measure) for measure in measures]),
            skip,
            target,
            tuple([self._pattern_variable(each) for each in pattern]),
            None if within is None else self.expr(within),
            tuple([self._definition(each) for each in definitions]),
            self._alias(alias),
            position=self.at(node),
        )

    def _pattern_variable(self, node: exp.Expr) -> s.PatternVariable:
        this, least, most, reluctant = self.read(node, "this", "least", "most", "reluctant")
        return s.PatternVariable(
            self.name(this), least, None if most == -1 else most, reluctant, position=self.at(node)
        )

    def _definition(self, node: exp.Expr) -> s.Definition:
        variable, condition = self.read(node, "this", "expression")
        return s.Definition(self.name(variable), self.expr(condition), position=self.at(node))

    def _alias(self, node: exp.Expr | None) -> s.Alias | None:
        if node is None:
            return None
        this, columns = self.read(node, "this", "columns")
        return s.Alias(self.name(this), tuple([self.name(column) for column in columns or ()]), position=self.at(node))

    def hints(self, node: exp.Expr | None) -> tuple[s.Hint, ...]:
        """The hints at one place."""
        if node is None:
            return ()
        found: list[s.Hint] = []
        for hint in self.read(node, "expressions")[0]:
            name, options = self.read(hint, "this", "expressions")
            pairs = [tuple(self.read(option, "this", "expression")) for option in options]
            found.append(s.Hint(name, tuple([(key, value) for key, value in pairs]), position=self.at(hint)))
        return tuple(found)


_RELATIONS: dict[type[exp.Expr], Callable[[Convert, exp.Expr], s.Relation]] = {
    exp.Table: Convert._table,
    exp.Subquery: Convert._derived,
    nodes.Unnest: Convert._unnest,
    nodes.TableFunction: Convert._table_function,
    nodes.MatchRecognize: Convert._match_recognize,
    nodes.Relations: Convert._from,
}


def _flat(keys: list[tuple[s.Expr, ...]]) -> tuple[s.Expr, ...]:
    return tuple([each for key in keys for each in key])
