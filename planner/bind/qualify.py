"""QUALIFY: rows by functions OVER windows; it may name columns of the SELECT list by their aliases."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression
from planner import syntax as s
from planner.bind.expression_binder import walk
from planner.bind.stage import Stage


def qualified(node: s.Select, stage: Stage) -> Stage:
    """The stage behind QUALIFY, if there is one; SqlError if no function OVER a window is in it."""
    if node.qualify is None:
        return stage
    if not any(_is_over(each) for named in walk(node.qualify) for each in walk(_aliased(node, named))):
        raise SqlError(
            "QUALIFY expression must contain a window function", position=node.qualify.position, hint="Write WHERE."
        )
    converter = stage.clause("QUALIFY")
    before = converter.replace

    def known(each: s.Expr) -> Expression | None:
        meant = _aliased(node, each)
        if meant is each:
            return before(each)
        converter.replace = before  # there are no aliases inside of what an alias stands for
        found = converter.convert(meant)
        converter.replace = known
        return found

    converter.replace = known
    found = stage.filtered(node.qualify, "QUALIFY")
    converter.replace = before
    return found


def _is_over(each: s.Expr) -> bool:
    return isinstance(each, s.Call) and each.over is not None


def _aliased(node: s.Select, expression: s.Expr) -> s.Expr:
    """What an alias stands for; the expression itself if it is none."""
    if not isinstance(expression, s.Name) or len(expression.parts) > 1:
        return expression
    name = expression.parts[0]
    meant = [item.expr for item in node.items if name == _name(item)]
    if len(meant) > 1:
        raise SqlError(f"Column '{name}' is ambiguous", position=expression.position, hint="Give it another alias.")
    return meant[0] if meant and meant[0] != expression else expression


def _name(item: s.SelectItem) -> str | None:
    return item.alias or (item.expr.parts[-1] if isinstance(item.expr, s.Name) else None)
