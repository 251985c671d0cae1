"""What a view gives, whatever has become of the tables that its query reads since it was made."""

from __future__ import annotations

from execnodes.core.errors import CatalogError
from execnodes.core.expressions import Expression, InputRef
from execnodes.core.types import LogicalType
from execnodes.core.words import counted
from execnodes.functions.resolving import cast
from planner import syntax as s
from planner.algebra import Logical
from planner.bind.source import project
from planner.catalog.catalogs import View

_AGAIN = "Make the view again: write CREATE OR REPLACE VIEW with the columns that it is to give."


def restore_columns(plan: Logical, view: View, query: s.Query) -> Logical:
    """The query of a view with the columns and types of when it was made.

    Views of releases before 1.5 kept their stars as written, and no types: their columns are then found by name.
    """
    fields = plan.type.fields
    if view.types:
        restored = [_restore(index, plan, type_) for index, type_ in enumerate(view.types[: len(fields)])]
        if len(fields) != len(view.types):
            raise _changed(view, len(fields))
        changed = any(not isinstance(each, InputRef) for each in restored)
        return project(plan, restored, list(view.columns)) if changed else plan
    if len(fields) == len(view.columns):
        return plan
    indexes = {field.name: index for index, field in enumerate(fields)}
    if not _has_star(query) or any(name not in indexes for name in view.columns):
        raise _changed(view, len(fields))
    refs: list[Expression] = [InputRef(input_index=indexes[n], type=fields[indexes[n]].type) for n in view.columns]
    return project(plan, refs, list(view.columns))


def _restore(index: int, plan: Logical, type_: LogicalType) -> Expression:
    found = plan.type.fields[index].type
    column = InputRef(input_index=index, type=found)
    target = type_.with_nullable(found.nullable)
    return column if found.regular() == target else cast(column, target, explicit=True)


def _has_star(query: s.Query) -> bool:
    body: s.Body = query
    while isinstance(body, s.Query | s.SetOperation):
        body = body.body if isinstance(body, s.Query) else body.left
    return isinstance(body, s.Select) and any(isinstance(item.expr, s.Star) for item in body.items)


def _changed(view: View, width: int) -> CatalogError:
    return CatalogError(f"the view has {counted(len(view.columns), 'column')}, its query gives {width}", hint=_AGAIN)
