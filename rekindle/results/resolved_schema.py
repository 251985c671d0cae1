"""Names and types of columns."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.type_texts import format_type
from execnodes.core.types import Field, LogicalType, row
from planner.catalog.catalogs import quoted


@dataclass(frozen=True)
class ResolvedSchema:
    """Columns of a Table or a result, in order."""

    fields: tuple[Field, ...]

    def get_column_count(self) -> int:
        """How many columns there are."""
        return len(self.fields)

    def get_column_names(self) -> list[str]:
        """Their names."""
        return [field.name for field in self.fields]

    def get_column_data_types(self) -> list[LogicalType]:
        """Their types."""
        return [field.type for field in self.fields]

    def get_field_count(self) -> int:
        """As `get_column_count`."""
        return self.get_column_count()

    def get_field_names(self) -> list[str]:
        """As `get_column_names`."""
        return self.get_column_names()

    def get_field_data_types(self) -> list[LogicalType]:
        """As `get_column_data_types`."""
        return self.get_column_data_types()

    def get_field_name(self, field_index: int) -> str | None:
        """The name of a column by its place, from 0 on; None where there is none."""
        return self.fields[field_index].name if 0 <= field_index < len(self.fields) else None

    def get_field_data_type(self, field: int | str) -> LogicalType | None:
        """The type of a column by its place or name; None where there is none."""
        places = range(len(self.fields)) if isinstance(field, int) else self.get_column_names()
        return self.fields[places.index(field)].type if field in places else None  # type: ignore[arg-type]  # is in it

    def to_row_data_type(self) -> LogicalType:
        """The ROW of the columns."""
        return row(*self.fields)

    def __str__(self) -> str:
        lines = ",\n".join(f"  {quoted((field.name,))} {format_type(field.type)}" for field in self.fields)
        return f"(\n{lines}\n)"
