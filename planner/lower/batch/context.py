"""What the functions of one batch compilation share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

from execnodes.core.changelog import INSERT_ONLY
from execnodes.core.node import Distribution, ExecNode
from execnodes.core.options import Configuration
from execnodes.core.types import LogicalType
from planner.algebra import Logical
from planner.describe import described, listed, names_of
from planner.lower.aggregate import regular
from planner.lower.context import Context


@singledispatch
def lower_batch_node(node: Logical, context: BatchContext) -> ExecNode:
    """The batch node of a logical operator, its inputs made first."""
    raise TypeError(f"no lowering for {type(node).__name__}")


class BatchContext(Context):
    """One compilation."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._made: dict[int, tuple[Logical, ExecNode]] = {}

    def lower_batch(self, node: Logical) -> ExecNode:
        """Lower an operator, once."""
        if id(node) not in self._made or not self.builder.reuse:
            # The operator is kept so that its id is not given to another one.
            self._made[id(node)] = (node, lower_batch_node(node, self))
        return self._made[id(node)][1]

    def make_batch(
        self, name: str, inputs: Sequence[ExecNode], output: LogicalType, description: str, **fields: Any
    ) -> ExecNode:
        """The newest version of ``batch-exec-<name>``; time attributes are plain timestamps behind it."""
        return self.make(f"batch-exec-{name}", inputs, regular(output), INSERT_ONLY, description, **fields)

    def exchange(self, source: ExecNode, keys: Iterable[int]) -> ExecNode:
        """Spread rows by hash of columns; without columns all rows go to one place."""
        spread = tuple(keys)
        kind = f"hash{listed(names_of(source.output_type, spread))}" if spread else "single"
        distribution = Distribution(type="HASH", keys=spread) if spread else Distribution(type="SINGLETON")
        description = described("Exchange", ("distribution", f"[{kind}]"))
        return self.make_batch("exchange", [source], source.output_type, description, distributions=[distribution])
