"""What the functions of one compilation share, and how each makes its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

from execnodes.core.errors import SqlError
from execnodes.core.node import UID_FORMAT, Distribution, ExecNode, InputProperty, StateMetadata
from execnodes.core.options import Configuration
from planner.algebra import Logical
from planner.algebra.columns import uniquely_named
from planner.lower.describe import described, listed, names_of
from planner.lower.reuse import PlanBuilder

NEW = 0
"""Id of a node that is not in the graph yet."""


@singledispatch
def lower_node(node: Logical, context: Context, update_before: bool) -> ExecNode:
    """The exec node of a logical operator, its inputs made first; `update_before`: the consumer needs -U."""
    raise SqlError(
        f"{type(node).__name__} is not supported in streams yet",
        hint="Batch mode may have it: SET 'execution.runtime-mode' = 'batch'.",
    )


class Context:
    """One compilation."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.builder = PlanBuilder(configuration.flag("table.optimizer.reuse-sub-plan-enabled"))
        self.roots: dict[int, int] = {}
        """Identity of a compiled query to the id of its root in the graph."""
        self._done: dict[tuple[int, bool], tuple[Logical, ExecNode]] = {}

    def lower(self, node: Logical, update_before: bool) -> ExecNode:
        """Lower an operator, once for each way its consumers need its updates."""
        wanted = update_before and node.kinds.has_updates
        key = (id(node), wanted)
        if key not in self._done or not self.builder.reuse:
            # The operator is kept so that its id is not given to another one.
            self._done[key] = (node, lower_node(node, self, wanted))
        return self._done[key][1]

    def add(
        self,
        node: ExecNode,
        inputs: Sequence[ExecNode],
        *,
        distributions: Sequence[Distribution] = (),
        share: bool = True,
    ) -> ExecNode:
        """Put a node into the graph, over its inputs; an earlier equal one stands in for it if both may `share`.

        It gets its id, the options it consumes, and what it asks of its inputs: `distributions`, or nothing.
        """
        options = {
            key: self.configuration.get_option(key) for key in node.metadata.consumed_options if key != UID_FORMAT
        }
        if UID_FORMAT in node.metadata.consumed_options and UID_FORMAT in self.configuration:
            options[UID_FORMAT] = self.configuration[UID_FORMAT]
        required = distributions or [Distribution(type="ANY")] * len(inputs)
        complete = node.replaced(
            configuration=dict(sorted(options.items())),
            input_properties=tuple(InputProperty(required_distribution=each) for each in required),
            output_type=uniquely_named(node.output_type),
        )
        return self.builder.add(complete, inputs, share)

    def exchange(self, source: ExecNode, keys: Iterable[int]) -> ExecNode:
        """Spread rows by hash of columns; without columns all rows go to one place."""
        from execnodes.stream.exchange import Exchange

        spread = tuple(keys)
        kind = f"hash{listed(names_of(source.output_type, spread))}" if spread else "single"
        distribution = Distribution(type="HASH", keys=spread) if spread else Distribution(type="SINGLETON")
        return self.add(
            Exchange(
                id=NEW,
                output_type=source.output_type,
                changelog_mode=source.changelog_mode,
                description=described("Exchange", ("distribution", f"[{kind}]")),
            ),
            [source],
            distributions=[distribution],
        )

    def state(self, name: str, ttl: str | None = None, index: int = 0) -> StateMetadata:
        """A state whose TTL is that of a hint, else that of the configuration."""
        return StateMetadata(index=index, ttl=ttl or self.configuration.get_option("table.exec.state.ttl"), name=name)
