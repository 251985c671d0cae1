"""`TableDescriptor`: what CREATE TABLE says, put together in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.catalog.catalogs import quoted
from rekindle.api.literals import path_sql, text_sql
from rekindle.api.schema import Schema


@dataclass(frozen=True)
class TableDescriptor:
    """Schema, options, partition and comment of a table; also the builder of one."""

    options: tuple[tuple[str, str], ...] = ()
    declared: Schema | None = None
    partition_keys: tuple[str, ...] = ()
    note: str | None = None

    @classmethod
    def for_connector(cls, connector: str) -> TableDescriptor:
        """A table of a connector."""
        return cls((("connector", connector),))

    def schema(self, schema: Schema) -> TableDescriptor:
        """With columns, watermark and key."""
        return replace(self, declared=schema)

    def option(self, key: str, value: object) -> TableDescriptor:
        """With an option."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        kept = tuple(each for each in self.options if each[0] != key)
        return replace(self, options=(*kept, (key, text)))

    def format(self, format: str) -> TableDescriptor:
        """With a format."""
        return self.option("format", format)

    def partitioned_by(self, *partition_keys: str) -> TableDescriptor:
        """Partitioned by columns."""
        return replace(self, partition_keys=partition_keys)

    def comment(self, comment: str) -> TableDescriptor:
        """With a comment."""
        return replace(self, note=comment)

    def build(self) -> TableDescriptor:
        """The descriptor itself: each step gives a new one."""
        return self

    def statement(self, path: str, *, temporary: bool, if_not_exists: bool) -> str:
        """The CREATE TABLE statement."""
        parts = [
            f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {'IF NOT EXISTS ' if if_not_exists else ''}",
            path_sql(path),
            f" (\n{self.declared}\n)" if self.declared is not None else "",
            f" COMMENT {text_sql(self.note)}" if self.note is not None else "",
            f" PARTITIONED BY ({', '.join(quoted((key,)) for key in self.partition_keys)})"
            if self.partition_keys
            else "",
            f" WITH ({', '.join(f'{text_sql(key)} = {text_sql(value)}' for key, value in self.options)})",
        ]
        return "".join(parts)
