"""A script and its places."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from execnodes.core.errors import Position


class Source:
    """A script: its text and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(r"\n", self.text))]

    def position(self, offset: int) -> Position:
        """Line and column of an offset."""
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)
