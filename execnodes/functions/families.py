"""Families of types, and parameter lists such as ``"TEXT, INT?"`` or ``"TEXT, ANY..."`` written with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import (
    BIGINT,
    BINARIES,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    INTEGERS,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    NUMERICS,
    STRING,
    TEXTS,
    TIMESTAMPS,
    LogicalType,
    Root,
    time,
    timestamp,
    timestamp_ltz,
    varchar,
)
from execnodes.functions.conversion import convert


@dataclass(frozen=True, slots=True)
class Family:
    """Types that one parameter takes."""

    name: str
    roots: tuple[Root, ...]
    """Empty: all."""
    null: LogicalType
    """Type given to a bare NULL."""
    converted: bool = False
    """Whether operands become `null`'s type; else they stay what they are."""

    def convert(self, operand: Expression) -> Expression | None:
        """The operand as the function wants it; None if its type does not fit."""
        if operand.type.root is Root.NULL:
            return convert(operand, self.null)
        if self.name == "SYMBOL":
            return operand if isinstance(operand, Literal) and operand.type.root in TEXTS else None
        if self.roots and operand.type.root not in self.roots:
            return None
        return convert(operand, self.null) if self.converted else operand


EXACT = (*INTEGERS, Root.DECIMAL)
TEMPORAL = (Root.DATE, Root.TIME, *TIMESTAMPS)
FAMILIES = {
    each.name: each
    for each in (
        Family("ANY", (), STRING),
        Family("SYMBOL", TEXTS, STRING),
        Family("TEXT", TEXTS, STRING),
        Family("BOOLEAN", (Root.BOOLEAN,), BOOLEAN),
        Family("INT", INTEGERS, INT, converted=True),
        Family("BIGINT", INTEGERS, BIGINT, converted=True),
        Family("INTEGER", INTEGERS, INT),
        Family("EXACT", EXACT, INT),
        Family("NUMERIC", NUMERICS, INT),
        Family("DECIMAL", (Root.DECIMAL,), INT),
        Family("APPROXIMATE", (Root.FLOAT, Root.DOUBLE), DOUBLE),
        Family("DOUBLE", NUMERICS, DOUBLE, converted=True),
        Family("BINARY", BINARIES, BYTES),
        Family("DATE", (Root.DATE,), DATE),
        Family("TIME", (Root.TIME,), time()),
        Family("TIMESTAMP", (Root.TIMESTAMP,), timestamp(3)),
        Family("TIMESTAMP_LTZ", (Root.TIMESTAMP_LTZ,), timestamp_ltz(3)),
        Family("DATETIME", (Root.DATE, *TIMESTAMPS), timestamp(3)),
        Family("TEMPORAL", TEMPORAL, timestamp(3)),
        Family("INTERVAL SECOND", (Root.INTERVAL_DAY_TIME,), INTERVAL_DAY_TIME),
        Family("INTERVAL MONTH", (Root.INTERVAL_YEAR_MONTH,), INTERVAL_YEAR_MONTH),
        Family("ARRAY", (Root.ARRAY,), LogicalType(Root.ARRAY, children=(STRING,))),
        Family("MAP", (Root.MAP,), LogicalType(Root.MAP, children=(STRING, STRING))),
        Family("COLLECTION", (Root.ARRAY, Root.MAP, Root.MULTISET), LogicalType(Root.ARRAY, children=(STRING,))),
    )
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """A parameter list."""

    families: tuple[Family, ...]
    least: int
    """Operands that must be there."""
    repeated: bool
    """Whether the last parameter may come again."""
    text: str

    @classmethod
    def parse(cls, text: str) -> Parameters:
        """Read ``"TEXT, INT?, ANY..."``: ``?`` may be left out, ``...`` one or more times."""
        names = [each.strip() for each in text.split(",")] if text else []
        families = tuple(FAMILIES[name.rstrip("?.")] for name in names)
        return cls(families, sum("?" not in n for n in names), bool(names) and names[-1].endswith("..."), text)

    def convert(self, operands: Sequence[Expression]) -> tuple[Expression, ...] | None:
        """The operands as the function wants them, or None if number or types do not fit."""
        if len(operands) < self.least or (len(operands) > len(self.families) and not self.repeated):
            return None
        converted = []
        for index, operand in enumerate(operands):
            one = self.families[min(index, len(self.families) - 1)].convert(operand)
            if one is None:
                return None
            converted.append(one)
        return tuple(converted)

    def say(self, operands: Sequence[Expression], words: Collection[str]) -> bool:
        """Whether the operands that are symbols are among the words."""
        symbols = (one for one, family in zip(operands, self.families, strict=False) if family.name == "SYMBOL")
        return all(isinstance(each, Literal) and each.value in words for each in symbols)

    def __str__(self) -> str:
        return self.text


Rule = Callable[[Sequence[LogicalType]], LogicalType | None]


def operand(index: int) -> Rule:
    """Result type: that of an operand."""
    return lambda types: types[index]


def varying(index: int) -> Rule:
    """Result type: that of a text operand, VARCHAR of the same length if it is a CHAR."""

    def rule(types: Sequence[LogicalType]) -> LogicalType | None:
        t = types[index]
        return varchar(t.length) if t.root is Root.CHAR else t

    return rule
