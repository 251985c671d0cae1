"""What other systems write: errors that say what it is and what to write in Flink's SQL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token

from execnodes.core.errors import SqlError
from planner.sql.source import Source


def instead(tokens: Sequence[Token], index: int, source: Source) -> SqlError | None:
    """An error about another system's SQL that the parser stopped in, if it is known."""
    return None
