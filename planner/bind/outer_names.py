"""Names in a query that mean columns of the query around it, however deep they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TypeVar

from execnodes.core.errors import SqlError
from planner import syntax as s
from planner.bind.builder import Builder
from planner.bind.hints import StateTtl
from planner.bind.relations import build_source
from planner.bind.scope import Scope

Part = TypeVar("Part")


class OuterNames:
    """Finds and replaces the names of one outer scope in parts of a query."""

    def __init__(self, builder: Builder, outer: Scope) -> None:
        self._builder, self._outer = builder, outer
        self._within: list[Callable[[s.Name], bool]] = []
        self._change: Callable[[s.Name], s.Expr] = lambda name: name

    def replace(self, node: Part, change: Callable[[s.Name], s.Expr]) -> Part:
        """The part of a query with what stands for its outer names; queries in FROM that have any become LATERAL."""
        self._change = change
        return self._replaced(node)

    def of(self, node: object) -> list[s.Name]:
        """The outer names of a part of a query."""
        found: list[s.Name] = []

        def keep(name: s.Name) -> s.Expr:
            found.append(name)
            return name

        self.replace(node, keep)
        return found

    @contextmanager
    def inside(self, body: s.Select, order: tuple[s.OrderItem, ...] = ()) -> Iterator[None]:
        """Names of the SELECT's own columns are none of the outer scope; `order` may name its list."""
        self._within.append(_binder(self._builder, body, {item.alias for item in body.items} if order else set()))
        try:
            yield
        finally:
            self._within.pop()

    def _replaced(self, node: Part) -> Part:
        match node:
            case s.Name():
                own = any(binds(node) for binds in reversed(self._within))
                return node if own or not self._outer.finds(node) else self._change(node)  # type: ignore[return-value]  # a name stands for any expression
            case s.Select():
                with self.inside(node):
                    return self._of_fields(node)
            case s.Query() if isinstance(node.body, s.Select) and node.order:
                with self.inside(node.body, node.order):
                    order = self._replaced(node.order)
                rest = self._of_fields(replace(node, order=()))
                return replace(rest, order=order)
            case s.Derived():
                changed = self._of_fields(node)
                return node if changed is node else replace(changed, lateral=True)
            case s.Node():
                return self._of_fields(node)
            case tuple():
                parts = tuple(self._replaced(each) for each in node)
                return parts if any(a is not b for a, b in zip(parts, node, strict=True)) else node  # type: ignore[return-value]  # of the same members
            case _:
                # a text, a number, a type or None: no name stands in it
                return node

    def _of_fields(self, node: Part) -> Part:
        changed = {}
        for field in fields(node):  # type: ignore[arg-type]  # a syntax node
            value = getattr(node, field.name)
            if field.name != "position" and (found := self._replaced(value)) is not value:
                changed[field.name] = found
        return replace(node, **changed) if changed else node  # type: ignore[type-var]  # a syntax node


def _binder(builder: Builder, body: s.Select, aliases: set[str | None]) -> Callable[[s.Name], bool]:
    """Whether a name is one of a SELECT: by its FROM, or by the names of its tables if that reads the outer query."""
    try:
        scope = build_source(builder, body, StateTtl(()), None).scope
    except SqlError:
        names = set(_aliases(body.relation))
        return lambda name: name.parts[0] in names or len(name.parts) == 1

    def binds(name: s.Name) -> bool:
        try:
            return scope.finds(name) or (len(name.parts) == 1 and name.parts[0] in aliases)
        except SqlError:  # an ambiguous one, which is refused where it is bound
            return True

    return binds


def _aliases(node: s.Relation | None) -> Iterator[str]:
    if isinstance(node, s.Join):
        yield from _aliases(node.left)
        yield from _aliases(node.right)
    elif node is not None and node.alias is not None:
        yield node.alias.name
    elif isinstance(node, s.TableName):
        yield node.parts[-1]
