"""What a released node version promises; each field names the test that holds it to the promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

N = TypeVar("N", bound=type)


@dataclass(frozen=True, order=True, slots=True)
class NodeKey:
    """Identity of a node version: the `type` of a node in a plan, e.g. ``stream-exec-sink_1``."""

    name: str
    version: int

    @classmethod
    def parse(cls, text: str) -> NodeKey:
        """Read ``stream-exec-sink_1``; raises ValueError for anything else."""
        match = re.fullmatch(r"((?:stream|batch)-exec-[a-z-]+)_([1-9][0-9]*)", text)
        if match is None:
            raise ValueError(f"{text!r} is not a node type; expected e.g. 'stream-exec-sink_1'")
        return cls(match[1], int(match[2]))

    @property
    def batch(self) -> bool:
        """Whether it is a node of batch plans."""
        return self.name.startswith("batch-")

    @property
    def module(self) -> str:
        """Where this version lives: the key is the path (tests/completeness/test_keys.py)."""
        mode, _, node = self.name.partition("-exec-")
        return f"execnodes.{mode}.{node.replace('-', '_')}.v{self.version}"

    def __str__(self) -> str:
        return f"{self.name}_{self.version}"


@dataclass(frozen=True, slots=True)
class ExecNodeMetadata:
    """One annotation of a node class."""

    key: NodeKey
    consumed_options: tuple[str, ...]
    """Option keys persisted with the node. test_options.py: each exists and is varied in some program."""
    produced_operators: frozenset[str]
    """Operator names a uid of this node may end in. test_nodes.py: they are words in lower case."""
    min_plan_version: str
    """First engine release that writes this JSON."""
    min_state_version: str
    """First engine release that writes this state."""


def exec_node_metadata(
    *,
    name: str,
    version: int,
    produced_operators: Iterable[str],
    min_plan_version: str,
    min_state_version: str,
    consumed_options: Iterable[str] = (),
) -> Callable[[N], N]:
    """Annotate a node class; several annotations mean that one class serves several versions (FLIP-190)."""
    metadata = ExecNodeMetadata(
        NodeKey(name, version),
        tuple(sorted(consumed_options)),
        frozenset(produced_operators),
        min_plan_version,
        min_state_version,
    )

    def annotate(cls: N) -> N:
        own: tuple[ExecNodeMetadata, ...] = cls.__dict__.get("METADATA", ())
        if any(other.key == metadata.key for other in own):
            raise TypeError(f"{cls.__name__} is annotated twice as {metadata.key}")
        cls.METADATA = tuple(sorted((*own, metadata), key=lambda each: each.key))  # type: ignore[attr-defined]
        return cls

    return annotate
