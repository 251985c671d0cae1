"""Rows of SQL as Python has them: `Row`, with PyFlink's methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from execnodes.core.changelog import RowKind


class Row:
    """Values of a row, by place and by name, and what the row does to a table.

    ``Row(1, "a")`` has no names, ``Row(k=1, s="a")`` has; ``Row("k", "s")`` makes named rows when it is called with
    values. Two rows are equal if their kinds and values are, and their names, where both have some.
    """

    _values: list[Any]
    _fields: tuple[str, ...] | None
    _row_kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("a Row is made of values or of names and values, not of both")
        own = vars(self)
        own["_values"] = [kwargs[name] for name in sorted(kwargs)] if kwargs else list(args)
        own["_fields"] = tuple(sorted(kwargs)) if kwargs else None
        own["_row_kind"] = RowKind.INSERT

    @staticmethod
    def of_kind(kind: RowKind, *values: Any) -> Row:
        """A row without names that does something else than being inserted."""
        row = Row(*values)
        row.set_row_kind(kind)
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Names and values, those of rows inside as well if `recursive`; TypeError without names."""
        if self._fields is None:
            raise TypeError("this Row has no names")
        return dict(zip(self._fields, map(_as_dicts, self) if recursive else self, strict=False))

    def get_row_kind(self) -> RowKind:
        """Whether the row is inserted, deleted, or the old or new one of an update."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Make the row one of another kind."""
        vars(self)["_row_kind"] = row_kind

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Name the values."""
        vars(self)["_fields"] = tuple(field_names)

    def get_field_names(self) -> list[str] | None:
        """The names; None without."""
        return None if self._fields is None else list(self._fields)

    def __call__(self, *args: Any) -> Row:
        """A row with the values of this one as names."""
        if len(args) > len(self):
            raise ValueError(f"{len(args)} values for the {len(self)} names {self._values}")
        return name_values(tuple(map(str, self._values)), args, self._row_kind)

    def __getitem__(self, item: int | slice | str) -> Any:
        return self._values[item if isinstance(item, int | slice) else self._place(item)]

    def __setitem__(self, item: int | slice | str, value: Any) -> None:
        self._values[item if isinstance(item, int | slice) else self._place(item)] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in (self._fields or ()):
            raise AttributeError(f"a Row with the names {self._fields} has no {name!r}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} cannot be set; write row[{name!r}] = …")

    def _place(self, name: str) -> int:
        if self._fields is None or name not in self._fields:
            raise KeyError(name)
        return self._fields.index(name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, value: object) -> bool:
        return value in self._values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        named = self._fields is not None and other._fields is not None
        return (
            self._row_kind == other._row_kind
            and self._values == other._values
            and (not named or self._fields == other._fields)
        )

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __reduce__(self) -> tuple[Any, ...]:
        return name_values, (self._fields, tuple(self._values), self._row_kind)

    def __repr__(self) -> str:
        if self._fields is None:
            return f"<Row({', '.join(map(repr, self))})>"
        return f"Row({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self, strict=False))})"


class FieldDict(dict[str, Any]):
    """A ROW as functions without hints get it: a dict of its fields, which are found by place and as attributes."""

    def __missing__(self, key: object) -> Any:
        if isinstance(key, int):
            return tuple(self.values())[key]
        raise KeyError(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(tuple(self)[key] if isinstance(key, int) else key, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self:
            raise AttributeError(f"a ROW with the fields {', '.join(self)} has no {name!r}")
        return self[name]

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The fields as a plain dict, those of rows inside as well if `recursive`."""
        return {name: _as_dicts(value) if recursive else value for name, value in self.items()}


def name_values(names: Sequence[str] | None, values: Sequence[Any], kind: RowKind = RowKind.INSERT) -> Row:
    """A row with names; None for one without."""
    row = Row(*values)
    if names is not None:
        row.set_field_names(names)
    row.set_row_kind(kind)
    return row


def _as_dicts(value: Any) -> Any:
    if isinstance(value, Row | FieldDict):
        return value.as_dict(recursive=True)
    if isinstance(value, list):
        return [_as_dicts(each) for each in value]
    return {key: _as_dicts(each) for key, each in value.items()} if isinstance(value, Mapping) else value
