"""One family of errors: what happened, where (SQL position, node id, uid, file), and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from execnodes.core.places import Place
from execnodes.core.secrets import masked


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a SQL text; both numbers count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


TRY_AGAIN = 75
"""What a command ends with after a failure that may pass, so that it may be tried again: EX_TEMPFAIL of sysexits."""


class RekindleError(Exception):
    """Base of everything Rekindle raises on purpose."""

    exit_code = 1
    """What a command ends with because of it."""

    def __init__(
        self, message: str, *, where: str | None = None, position: Position | None = None, hint: str | None = None
    ) -> None:
        """`message` says what happened; `where` names a node, uid or file; `hint` what to do. Secrets are masked."""
        self.message = masked(message)
        super().__init__(self.message)
        self.where = masked(where) if where else where
        self.position = position
        self.hint = masked(hint) if hint else hint

    def __str__(self) -> str:
        places = [str(self.position)] if self.position else []
        places += [self.where] if self.where else []
        text = f"{', '.join(places)}: {self.message}" if places else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class SqlError(RekindleError):
    """The SQL text cannot be taken: syntax, unknown names, types, or something not supported."""


class OptionError(RekindleError):
    """A configuration or table option is unknown or has a bad value."""


class CatalogError(RekindleError):
    """A catalog object is missing, exists already, or is of the wrong kind."""


class FunctionError(RekindleError):
    """A function of the user cannot be loaded, or says too little or something wrong about itself."""


class PlanError(RekindleError):
    """A compiled plan cannot be read, validated or executed."""


class ConnectorError(RekindleError):
    """A connector cannot read or write what it was told to."""


class PassingError(ConnectorError):
    """Something outside is in the way of a connector, and may be gone when the job starts again: a lock, a network."""

    exit_code = TRY_AGAIN


class StateError(RekindleError):
    """State or a savepoint cannot be read, matched or converted."""


class JobError(RekindleError):
    """A job failed while it ran."""

    place: Place | None = None
    """Where the SQL has what failed, if it is known; `where` says it too."""

    def at(self, place: Place | None) -> Self:
        """This error, with a place."""
        self.place = place
        return self
