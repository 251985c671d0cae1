"""Names for the columns of functions that are given as they are, as PyFlink has it: ``split.alias("word")``."""

from __future__ import annotations

from copy import copy
from typing import Self


class Aliased:
    """Base of what `udf`, `udtf` and `udaf` give."""

    alias_names: tuple[str, ...] = ()
    """Names of the columns that it gives, where it is called with the whole row."""

    def alias(self, *alias_names: str) -> Self:
        """The function with names for its columns, for methods of `Table` that call it with the whole row."""
        named = copy(self)
        named.alias_names = alias_names
        return named
