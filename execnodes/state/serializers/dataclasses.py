"""Accumulators that are dataclasses: a column a field, by the rules that Flink has for POJOs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core import consent
from execnodes.core.errors import FunctionError, StateError
from execnodes.core.expressions import Value
from execnodes.core.types import BINARIES, Field, LogicalType, parse_type, row
from execnodes.state.python_values import from_kernel, to_kernel
from execnodes.state.serializers.fields import migrate_fields, resolve_fields
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.state.serializers.snapshot import SchemaCompatibility, TypeSerializerSnapshot, incompatible
from execnodes.user_functions.hints import hints_of, type_of_hint


class DataclassSerializer(TypeSerializer):
    """Fields as columns."""

    name = "dataclass"

    def __init__(self, cls: type[Any]) -> None:
        """FunctionError if a field has no SQL type, or is no parameter of the class."""
        self._class = cls
        self._fields = dataclasses.fields(cls)
        known = hints_of(cls)
        self._hints = [known[each.name] for each in self._fields]
        derived = [each.name for each in self._fields if not each.init]
        if derived or not self._fields:
            what = f"field {derived[0]} is no parameter of it" if derived else "it has no fields"
            raise FunctionError(f"{cls.__qualname__} cannot be an accumulator: {what}")

    def columns(self) -> LogicalType:
        """A column a field."""
        parts = zip(self._fields, self._hints, strict=True)
        return row(*(Field(each.name, type_of_hint(hint)) for each, hint in parts))

    def hints(self) -> Sequence[Any]:
        """Those of the fields."""
        return self._hints

    def to_row(self, value: Any) -> Sequence[Any]:
        """Values of the fields."""
        return [getattr(value, each.name) for each in self._fields]

    def from_row(self, row: Sequence[Any]) -> Any:
        """An object of the class."""
        return self._class(**{each.name: value for each, value in zip(self._fields, row, strict=True)})

    def snapshot(self) -> TypeSerializerSnapshot:
        """Class, fields and defaults."""
        columns = self.columns()
        defaults: dict[str, Any] = {}
        for field, column in zip(self._fields, columns.fields, strict=True):
            given = field.default if field.default is not dataclasses.MISSING else None
            if field.default_factory is not dataclasses.MISSING:
                given = field.default_factory()
            if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING:
                convert = to_kernel(column.type)
                defaults[field.name] = given if convert is None else convert(given)
        return DataclassSnapshot(f"{self._class.__module__}:{self._class.__qualname__}", columns, defaults)


class DataclassSnapshot(TypeSerializerSnapshot):
    """Name of the class, its fields, and the defaults of those that have one (as state holds them)."""

    def __init__(
        self, class_name: str = "", columns: LogicalType | None = None, defaults: Mapping[str, Any] | None = None
    ) -> None:
        self.class_name = class_name
        self.columns = columns or row()
        self.defaults = dict(defaults or {})

    def write_snapshot(self) -> dict[str, Value]:
        """Three texts."""
        defaults = {name: value.hex() if isinstance(value, bytes) else value for name, value in self.defaults.items()}
        return {
            "class": self.class_name,
            "columns": str(self.columns),
            "defaults": json.dumps(defaults, sort_keys=True, ensure_ascii=False),
        }

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """See `write_snapshot`."""
        self.class_name = str(configuration["class"])
        self.columns = parse_type(configuration["columns"])
        self.defaults = json.loads(str(configuration["defaults"]))

    def restore_serializer(self) -> TypeSerializer:
        """Of the class as it is now; StateError if it is gone."""
        try:
            found: Any = consent.resolve(self.class_name, "the snapshot of an accumulator")
        except (ImportError, AttributeError, ValueError) as error:
            raise StateError(f"class {self.class_name} of an accumulator is gone: {error}") from error
        if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
            raise StateError(f"{self.class_name} of an accumulator is no dataclass")
        return DataclassSerializer(found)

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        """Fields may come with defaults and go; types, and the name of the class, may not change."""
        if not isinstance(old_snapshot, DataclassSnapshot):
            return incompatible("the accumulator was no dataclass")
        if old_snapshot.class_name != self.class_name:
            return incompatible(
                f"the class was {old_snapshot.class_name} and is {self.class_name}: classes cannot be renamed or moved"
            )
        return resolve_fields(old_snapshot.columns, self.columns, self.defaults)

    def migrate_columns(
        self, old_snapshot: TypeSerializerSnapshot, columns: Mapping[str, Sequence[Any]], rows: int
    ) -> dict[str, Sequence[Any]]:
        """See `MigratesColumns`."""
        types = {field.name: field.type for field in self.columns.fields}
        defaults = {name: _default(types[name], value) for name, value in self.defaults.items()}
        return migrate_fields(columns, list(types), defaults, rows)


def _default(t: LogicalType, value: Any) -> Any:
    if value is not None and t.root in BINARIES:
        return bytes.fromhex(value) if isinstance(value, str) else value
    convert = from_kernel(t)
    return value if convert is None else convert(value)
