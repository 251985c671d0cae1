"""What every version of a sink says, in streams and in batch plans."""

from __future__ import annotations

from abc import abstractmethod

from execnodes.core.changelog import ChangelogMode
from execnodes.core.node import ExecNode
from execnodes.core.tables import TableReference


class SinkNode(ExecNode):
    """Writes rows into a table."""

    @property
    @abstractmethod
    def target(self) -> TableReference:
        """The table."""

    @property
    @abstractmethod
    def arriving(self) -> ChangelogMode:
        """Kinds of row that come."""

    @property
    @abstractmethod
    def row_key(self) -> tuple[int, ...] | None:
        """Input columns by which updates find their row; None if they are not known, or rows are only added."""

    @property
    @abstractmethod
    def replaces(self) -> bool:
        """Whether what the table held goes."""
