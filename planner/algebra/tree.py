"""Walking and rebuilding plan trees; what a plan shares (a view read twice) stays shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from planner.algebra import Logical, Project, Sink
from planner.algebra.columns import pick, references
from planner.algebra.relation import over

Sinks = tuple[Sink, ...]


def bottom_up(*roots: Logical) -> Iterator[Logical]:
    """Every operator once, behind all that it reads; inputs from left to right."""
    seen: set[int] = set()
    left = [(root, False) for root in reversed(roots)]
    while left:
        node, read = left.pop()
        if read:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            left.append((node, True))
            left.extend((each, False) for each in reversed(node.inputs))


def rewrite(sinks: Sinks, change: Callable[[Logical], Logical]) -> Sinks:
    """Change every node but the sinks, inputs first. A result is not visited again."""
    done: dict[int, Logical] = {}
    for node in bottom_up(*(sink.input for sink in sinks)):
        done[id(node)] = change(over(node, [done[id(each)] for each in node.inputs]))
    return tuple(with_input(sink, done[id(sink.input)]) for sink in sinks)


def with_input(sink: Sink, new: Logical) -> Sink:
    """The same sink over another input."""
    return sink if new is sink.input else replace(sink, input=new)


def leaves(node: Logical) -> Iterator[Logical]:
    """All operators below that read no other, left to right, each once."""
    return (each for each in bottom_up(node) if not each.inputs)


def columns_of(node: Logical, indexes: Sequence[int]) -> Logical:
    """Exactly these columns of a node, in this order."""
    if list(indexes) == list(range(len(node.type.fields))):
        return node
    return Project(node, references(node.type, indexes), pick(node.type, indexes))
