"""Reading by position: how far a micro-batch goes. Positions are readable JSON; savepoints hold its text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from execnodes.core.errors import ConnectorError, JobError


@dataclass(frozen=True, slots=True)
class News:
    """What a source has to give."""

    position: Any
    """How far it goes: JSON."""
    ended: bool = False
    """Nothing comes after it."""
    then: Callable[[], Any] | None = field(default=None, compare=False)
    """How far the plan behind it goes, where that is known: rows wait, and only a bound keeps them from coming now."""


class Positions(Protocol):
    """How a table is read."""

    @property
    def bounded(self) -> bool:
        """Whether it ends by itself."""
        ...

    def plan(self, position: Any) -> News | None:
        """How far the next micro-batch reads from a position (None: from the start); None if there is nothing new.

        Of a source that has ended, the same position, and that it has ended; it is not asked again.
        """
        ...

    def size(self, start: Any, end: Any) -> int:
        """Bytes between two positions, about; by them a micro-batch is of one task or of several."""
        ...

    def restored(self, text: str) -> Any:
        """The position that a savepoint has as a text; JobError if it is none."""
        ...

    def until(self, text: str) -> Positions:
        """What has been read up to the position of a savepoint, which ends there.

        ConnectorError if that cannot be told from what there is now.
        """
        ...


@dataclass(frozen=True, slots=True)
class Once:
    """All of it is read at once, and then is done."""

    done: Any
    """Its position then."""
    table: str = ""
    """Whose rows may be others when they are read again; empty if they stay."""
    bounded: bool = True

    def plan(self, position: Any) -> News:
        """See Positions."""
        return News(self.done, ended=True)

    def size(self, start: Any, end: Any) -> int:
        """See Positions."""
        return 0

    def restored(self, text: str) -> Any:
        """See Positions."""
        return self.done

    def until(self, text: str) -> Positions:
        """See Positions."""
        if self.table:
            raise no_end(self.table)
        return self


def saved_text(position: object) -> str:
    """A position as savepoints have it; a stream that is fed has its own beside the number of its batch."""
    if isinstance(position, dict) and "savepoint" in position:
        position = position["savepoint"]
    return position if isinstance(position, str) else json.dumps(position)


def no_end(table: str) -> ConnectorError:
    """The error for a source of which nobody knows any more what it had given."""
    return ConnectorError(
        "it cannot be read up to a position",
        where=f"table {table}",
        hint="State above it cannot be made from its rows; the operator can only start empty.",
    )


def no_position(position: Any, of: str, table: str) -> JobError:
    """The error for what should be a position."""
    return JobError(
        f"the position is none of {of}: {position!r:.100}",
        where=f"table {table}",
        hint="The job's folder, or the savepoint, is not whole. Start from another savepoint.",
    )


def parsed(text: str) -> Any:
    """JSON, or the text itself, which then is no position."""
    try:
        return json.loads(text)
    except ValueError:
        return text
