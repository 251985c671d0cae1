"""Names and types of a query's columns."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.options import Configuration
from execnodes.core.types import Field, LogicalType
from planner.bind import build_query
from planner.catalog.catalogs import Catalog, quoted
from planner.parse import parse_query


@dataclass(frozen=True)
class ResolvedSchema:
    """Columns of a Table, in order."""

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

    def get_field_names(self) -> list[str]:
        """As `get_column_names`."""
        return self.get_column_names()

    def get_field_data_types(self) -> list[LogicalType]:
        """As `get_column_data_types`."""
        return self.get_column_data_types()

    def __str__(self) -> str:
        lines = ",\n".join(f"  {quoted((field.name,))} {field.type}" for field in self.fields)
        return f"(\n{lines}\n)"


def resolve_query(sql: str, catalog: Catalog, configuration: Configuration) -> ResolvedSchema:
    """The columns of a query; SqlError where it cannot be bound."""
    return ResolvedSchema(build_query(parse_query(sql), catalog, configuration).type.fields)
