"""`TableDescriptor`: what CREATE TABLE says, put together in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.catalog.catalogs import quoted
from rekindle.api.literals import path_sql, text_sql
from rekindle.api.schema import Schema


@dataclass(frozen=True)
class FormatDescriptor:
    """A format and its options; also the builder of one."""

    format: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def for_format(cls, format: str) -> FormatDescriptor:
        """A format by its identifier."""
        return cls(format)

    def option(self, key: str, value: object) -> FormatDescriptor:
        """With an option, whose key leaves out the format's name."""
        kept = tuple(each for each in self.options if each[0] != key)
        return replace(self, options=(*kept, (key, _text(value))))

    def get_format(self) -> str:
        """The identifier."""
        return self.format

    def get_options(self) -> dict[str, str]:
        """The options, by their keys."""
        return dict(self.options)

    def build(self) -> FormatDescriptor:
        """The descriptor itself: each step gives a new one."""
        return self


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
        kept = tuple(each for each in self.options if each[0] != key)
        return replace(self, options=(*kept, (key, _text(value))))

    def format(self, format: str | FormatDescriptor, format_option_prefix: str | None = None) -> TableDescriptor:
        """With a format and its options; with a prefix the format of a part, ``"key"`` or ``"value"``."""
        given = format if isinstance(format, FormatDescriptor) else FormatDescriptor(format)
        prefix = f"{format_option_prefix}." if format_option_prefix else ""
        changed = self.option(f"{prefix}format", given.format)
        for key, value in given.options:
            changed = changed.option(f"{prefix}{given.format}.{key}", value)
        return changed

    def partitioned_by(self, *partition_keys: str) -> TableDescriptor:
        """Partitioned by columns."""
        return replace(self, partition_keys=partition_keys)

    def comment(self, comment: str) -> TableDescriptor:
        """With a comment."""
        return replace(self, note=comment)

    def build(self) -> TableDescriptor:
        """The descriptor itself: each step gives a new one."""
        return self

    def get_schema(self) -> Schema | None:
        """The columns, if there are any."""
        return self.declared

    def get_options(self) -> dict[str, str]:
        """The options, by their keys."""
        return dict(self.options)

    def get_partition_keys(self) -> list[str]:
        """Columns that the table is partitioned by."""
        return list(self.partition_keys)

    def get_comment(self) -> str | None:
        """The comment, if there is one."""
        return self.note

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


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
