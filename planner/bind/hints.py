"""Hints behind SELECT."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.options import parse_duration
from planner import syntax as s

ADVISORY = frozenset(("BROADCAST", "MULTI_JOIN", "NEST_LOOP", "SHUFFLE_HASH", "SHUFFLE_MERGE"))
"""Flink's hints on how a join runs; results do not depend on them."""


class StateTtl:
    """STATE_TTL of one SELECT: by table name or alias. Names that no input bears are refused by `check`."""

    def __init__(self, hints: tuple[s.Hint, ...]) -> None:
        self._ttl: dict[str, str] = {}
        self._unused: dict[str, s.Hint] = {}
        for hint in hints:
            if hint.name in ADVISORY:
                continue
            if hint.name != "STATE_TTL":
                raise SqlError(
                    f"the hint {hint.name} is not known behind SELECT",
                    position=hint.position,
                    hint="Known: STATE_TTL('table' = '1 d'); behind a table OPTIONS('key' = 'value').",
                )
            for name, value in hint.options:
                if value is None:
                    raise SqlError(f"STATE_TTL: {name!r} has no duration", position=hint.position)
                parse_duration(value, "STATE_TTL")
                self._ttl[name], self._unused[name] = value, hint

    def of(self, name: str | None) -> str | None:
        """The TTL for an input."""
        if name is None:
            return None
        self._unused.pop(name, None)
        return self._ttl.get(name)

    def check(self) -> None:
        """SqlError for a name that was never asked for."""
        for name, hint in self._unused.items():
            raise SqlError(
                f"STATE_TTL names '{name}', which is no input of a join or aggregate here",
                position=hint.position,
                hint="Write the alias of a table, view or subquery in FROM.",
            )
