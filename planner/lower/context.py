"""What the functions of one compilation share, and how each makes its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

from execnodes.core.changelog import ChangelogMode
from execnodes.core.node import UID_FORMAT, Distribution, ExecNode, InputProperty, StateMetadata
from execnodes.core.options import Configuration
from execnodes.core.registry import newest
from execnodes.core.types import LogicalType
from planner.algebra import Logical
from planner.columns import unique_names
from planner.describe import described, listed, names_of
from planner.reuse import PlanBuilder


@singledispatch
def lower_node(node: Logical, context: Context, update_before: bool) -> ExecNode:
    """The exec node of a logical operator, its inputs made first; `update_before`: the consumer needs -U."""
    raise TypeError(f"no lowering for {type(node).__name__}")


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

    def make(
        self,
        name: str,
        inputs: Sequence[ExecNode],
        output: LogicalType,
        mode: ChangelogMode,
        description: str,
        *,
        distributions: Sequence[Distribution] = (),
        share: bool = True,
        **fields: Any,
    ) -> ExecNode:
        """The newest version of a node, with the options it consumes; `fields` are the node's own and `state`."""
        cls = newest(name)
        consumed = cls.newest().consumed_options
        options = {key: self.configuration.get_option(key) for key in consumed if key != UID_FORMAT}
        if UID_FORMAT in consumed and UID_FORMAT in self.configuration:
            options[UID_FORMAT] = self.configuration[UID_FORMAT]
        required = list(distributions) or [Distribution(type="ANY")] * len(inputs)
        common = {
            "configuration": dict(sorted(options.items())),
            "input_properties": tuple(InputProperty(required_distribution=each) for each in required),
            "output_type": unique_names(output),
            "changelog_mode": mode,
            "description": description,
        }
        return self.builder.add(cls, inputs, {**common, **fields}, share)

    def exchange(self, source: ExecNode, keys: Iterable[int]) -> ExecNode:
        """Spread rows by hash of columns; without columns all rows go to one place."""
        spread = tuple(keys)
        kind = f"hash{listed(names_of(source.output_type, spread))}" if spread else "single"
        distribution = Distribution(type="HASH", keys=spread) if spread else Distribution(type="SINGLETON")
        return self.make(
            "stream-exec-exchange",
            [source],
            source.output_type,
            source.changelog_mode,
            described("Exchange", ("distribution", f"[{kind}]")),
            distributions=[distribution],
        )

    def state(self, name: str, ttl: str | None = None, index: int = 0) -> StateMetadata:
        """A state whose TTL is that of a hint, else that of the configuration."""
        return StateMetadata(index=index, ttl=ttl or self.configuration.get_option("table.exec.state.ttl"), name=name)
