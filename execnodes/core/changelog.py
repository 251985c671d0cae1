"""Row kinds and changelog modes: which changes a node emits, which its input must carry."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


class RowKind(IntEnum):
    """What a row of a changelog does to the table it describes; the numbers are Flink's."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    @property
    def short(self) -> str:
        """``+I``, ``-U``, ``+U`` or ``-D``."""
        return ("+I", "-U", "+U", "-D")[self]


_NAMES = {"I": RowKind.INSERT, "UB": RowKind.UPDATE_BEFORE, "UA": RowKind.UPDATE_AFTER, "D": RowKind.DELETE}


class ChangelogMode(frozenset[RowKind]):
    """The kinds of row that may occur; in plans a text such as ``"I,UB,UA,D"`` (Flink's EXPLAIN form)."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(name for name, kind in _NAMES.items() if kind in self)

    @classmethod
    def parse(cls, text: object) -> ChangelogMode:
        """Read ``"I,UA"``; ValueError for anything else."""
        if not isinstance(text, str) or any(part not in _NAMES for part in text.split(",")):
            raise ValueError(f"{text!r} is not a changelog mode; expected e.g. 'I,UB,UA,D'")
        return cls(_NAMES[part] for part in text.split(","))

    @property
    def insert_only(self) -> bool:
        """True when every row is an INSERT."""
        return self <= {RowKind.INSERT}

    @property
    def has_updates(self) -> bool:
        """True when updates occur (with or without -U)."""
        return RowKind.UPDATE_AFTER in self

    @property
    def retract(self) -> bool:
        """True when updates come with their -U."""
        return RowKind.UPDATE_BEFORE in self

    @property
    def upsert(self) -> bool:
        """True when updates come without -U, so that rows must be found by key."""
        return self.has_updates and not self.retract

    def with_kinds(self, kinds: Iterable[RowKind]) -> ChangelogMode:
        """This mode and those kinds."""
        return ChangelogMode(self | set(kinds))

    def without(self, kind: RowKind) -> ChangelogMode:
        """This mode less one kind."""
        return ChangelogMode(self - {kind})

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any) -> ChangelogMode:
            return value if isinstance(value, ChangelogMode) else cls.parse(value)

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="always")
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "title": "ChangelogMode", "pattern": "^(I|UB|UA|D)(,(I|UB|UA|D))*$"}


INSERT_ONLY = ChangelogMode({RowKind.INSERT})
UPSERT = ChangelogMode({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE})
RETRACT = ChangelogMode(RowKind)
