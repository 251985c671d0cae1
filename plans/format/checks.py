"""What must hold for every node of a plan, whatever its kind: options, state entries and inputs."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.core.errors import OptionError, PlanError
from execnodes.core.node import ExecNode
from execnodes.core.options import find, parse_duration
from execnodes.core.words import counted


def check_node(node: ExecNode, input_count: int) -> None:
    """PlanError that names the first property of the node that does not hold."""
    for error in problems(node, input_count):
        raise error


def problems(node: ExecNode, input_count: int) -> Iterator[PlanError]:
    """Everything that is wrong with a node by itself."""
    yield from _options(node)
    yield from _state(node)
    given = len(node.input_properties)
    if given not in (0, input_count):
        yield node.fail(
            f"inputProperties has {counted(given, 'entry', 'entries')}, but "
            f"{counted(input_count, 'edge leads', 'edges lead')} to the node",
            "Give one entry for each input, in the order of the edges.",
        )


def _options(node: ExecNode) -> Iterator[PlanError]:
    consumed = node.metadata.consumed_options
    for key, value in sorted(node.configuration.items()):
        if key not in consumed:
            reads = f"It reads {', '.join(consumed)}." if consumed else "It reads none."
            yield node.fail(f"configuration: the node does not read option {key!r}", f"Remove it. {reads}")
        else:
            try:
                find(key).check(value)
            except OptionError as error:
                yield node.fail(f"configuration: {error.message}", error.hint)


def _state(node: ExecNode) -> Iterator[PlanError]:
    indexes = [entry.index for entry in node.state]
    if sorted(indexes) != list(range(len(indexes))):
        yield node.fail(
            f"state: the indexes are {indexes}", f"Use each of 0 to {len(indexes) - 1} once: one entry an input."
        )
    names = [entry.name for entry in node.state]
    if len(set(names)) != len(names):
        yield node.fail(f"state: the names are {names}", "Use each name once.")
    for entry in node.state:
        try:
            parse_duration(entry.ttl, "ttl")
        except OptionError as error:
            yield node.fail(f"state {entry.name!r}: {error.message}", error.hint)
