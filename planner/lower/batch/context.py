"""What the functions of one batch compilation share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

from execnodes.aggregates.function import without_maps
from execnodes.core.errors import Position, SqlError
from execnodes.core.node import Distribution, ExecNode
from execnodes.core.options import Configuration
from planner.algebra import Logical
from planner.lower.aggregate import regular
from planner.lower.context import NEW, Context
from planner.lower.describe import described, listed, names_of


@singledispatch
def lower_batch_node(node: Logical, context: BatchContext) -> ExecNode:
    """The batch node of a logical operator, its inputs made first."""
    raise SqlError(
        f"{type(node).__name__} is not supported in batch mode yet",
        hint="Run the statement in streaming mode: SET 'execution.runtime-mode' = 'streaming'.",
    )


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

    def add(
        self,
        node: ExecNode,
        inputs: Sequence[ExecNode],
        *,
        distributions: Sequence[Distribution] = (),
        share: bool = True,
    ) -> ExecNode:
        """As for streams; time attributes are plain timestamps behind it."""
        plain = node.replaced(output_type=regular(node.output_type))
        return super().add(plain, inputs, distributions=distributions, share=share)

    def exchange(self, source: ExecNode, keys: Iterable[int], position: Position | None = None) -> ExecNode:
        """Spread rows by hash of columns, which `position` asks for; without columns all rows go to one place."""
        from execnodes.batch.exchange import BatchExchange

        spread = tuple(keys)
        for each in spread:
            field = source.output_type.fields[each]
            if not without_maps(field.type):
                raise SqlError(
                    f"rows cannot be brought together by {field.name}, a {field.type}, in batch mode",
                    position=position,
                    hint="Spark compares no maps. Compare texts of them, e.g. CAST(m AS STRING); streams compare them.",
                )
        kind = f"hash{listed(names_of(source.output_type, spread))}" if spread else "single"
        distribution = Distribution(type="HASH", keys=spread) if spread else Distribution(type="SINGLETON")
        description = described("Exchange", ("distribution", f"[{kind}]"))
        exchange = BatchExchange(id=NEW, output_type=source.output_type, description=description)
        return self.add(exchange, [source], distributions=[distribution])
