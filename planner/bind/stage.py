"""A plan half way through a SELECT."""

from __future__ import annotations

from dataclasses import dataclass

from planner import syntax as s
from planner.algebra import Filter, Logical
from planner.bind.expression_binder import Converter


@dataclass(frozen=True)
class Stage:
    """A plan and the converter of expressions over it."""

    plan: Logical
    converter: Converter

    def clause(self, name: str) -> Converter:
        """The converter for a clause."""
        self.converter.clause = name
        return self.converter

    def filtered(self, node: s.Expr | None, clause: str) -> Stage:
        """The stage behind a condition."""
        if node is None:
            return self
        return Stage(Filter(self.plan, self.clause(clause).condition(node)), self.converter)
