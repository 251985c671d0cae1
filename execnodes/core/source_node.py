"""What every version of a scan says, in streams and in batch plans."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from execnodes.core.node import ExecNode
from execnodes.core.tables import TableReference
from execnodes.core.types import LogicalType


class SourceNode(ExecNode):
    """Reads a table; the output type lists the columns that are wanted."""

    INPUTS: ClassVar = range(1)

    @property
    @abstractmethod
    def source(self) -> TableReference:
        """The table."""

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Iterator[tuple[str, list[LogicalType]]]:
        """Columns of the table, by their names."""
        return iter(())
