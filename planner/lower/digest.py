"""Numbers for equal sub-plans: two subtrees mean the same exactly if they get the same number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import fields, is_dataclass

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from execnodes.core.errors import Position
from execnodes.core.expressions import Literal
from execnodes.core.graph import ExecGraph
from planner.algebra import Logical, Scan, SetOperation, Sink
from planner.algebra.single_evaluation import needs_single_evaluation
from planner.algebra.tree import bottom_up


class Interner:
    """Gives out numbers in order of asking; keep one for as long as its numbers are compared."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._by_node: dict[int, tuple[Logical, int]] = {}

    def number(self, node: Logical) -> int:
        """The number of the subtree; source positions do not count."""
        known = self._by_node.get(id(node))
        if known is None:
            below = tuple(self.number(each) for each in node.inputs)
            key = (type(node).__name__, below, self._own(node))
            # The node is kept so that its id is not given to another one.
            known = self._by_node[id(node)] = (node, self._numbers.setdefault(key, len(self._numbers)))
        return known[1]

    def _own(self, node: Logical) -> Hashable:
        if isinstance(node, Scan) and node.identifier is not None:
            return (node.identifier, node.hints, node.type, _frozen(node.predicates))
        nodes = {id(each) for each in node.inputs}
        if isinstance(node, SetOperation):
            nodes.add(id(node.inputs))
        values = (getattr(node, field.name) for field in fields(node))
        return tuple(_frozen(value) for value in values if id(value) not in nodes and not isinstance(value, Position))


def content(model: BaseModel, without: frozenset[str] = frozenset()) -> str:
    """All that a model says, apart from some properties; for comparing."""
    try:
        return model.model_dump_json(exclude=set(without))
    except PydanticSerializationError:
        # The writer of JSON gives up at half the depth at which that of Python values does.
        return repr(model.model_dump(exclude=set(without)))


def _frozen(value: object) -> Hashable:
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, Literal):  # VALUES has thousands; 1 and TRUE are equal to Python
        return type(value.value), value.value, value.type
    if isinstance(value, BaseModel):
        return content(value)
    if isinstance(value, ExecGraph):
        return tuple((content(node), value.inputs[node.id]) for node in value.nodes)
    if is_dataclass(value):
        return tuple(_frozen(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, dict):
        return tuple(sorted((key, _frozen(each)) for key, each in value.items()))
    assert isinstance(value, Hashable)
    return value


def readers(sinks: Iterable[Sink], interner: Interner) -> dict[int, set[int]]:
    """Number of each subtree to those of the operators that read it; sinks count from -1 downwards."""
    found: dict[int, set[int]] = {}
    seen: set[int] = set()

    def visit(node: Logical, reader: int) -> None:
        number = interner.number(node)
        found.setdefault(number, set()).add(reader)
        if number not in seen:
            seen.add(number)
            for each in node.inputs:
                visit(each, number)

    for place, sink in enumerate(sinks):
        visit(sink.input, -1 - place)
    return found


def find_shared(sinks: Sequence[Sink]) -> Callable[[Logical], bool]:
    """Return what tells whether an operator of the plan needs a single evaluation and has several readers.

    Operators below one that several read count too: a copy of that one would read copies of them.
    """
    nodes = list(bottom_up(*(sink.input for sink in sinks)))
    if not any(map(needs_single_evaluation, nodes)):
        return lambda node: False
    interner = Interner()
    read = readers(sinks, interner)
    shared: set[int] = set()
    for node in reversed(nodes):
        number = interner.number(node)
        found = read.get(number, set())
        if len(found) > 1 or not shared.isdisjoint(found):
            shared.add(number)
    return lambda node: needs_single_evaluation(node) and interner.number(node) in shared
