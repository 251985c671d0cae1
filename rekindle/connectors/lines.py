"""How formats stand in files: records are lines, which Spark reads as text; other formats are files of their own."""

from __future__ import annotations

from pathlib import Path

from execnodes.core.tables import Column
from execnodes.lowering.stream import quote
from rekindle.connectors.format import FileFormat, Format
from rekindle.connectors.line_text import LINE


def spark_format(chosen: Format) -> str:
    """Spark's own format that reads and writes the files."""
    return chosen.reader if isinstance(chosen, FileFormat) else "text"


def spark_schema(chosen: Format, columns: tuple[Column, ...]) -> str:
    """What that gives of the columns, as Spark DDL."""
    return chosen.schema(columns) if isinstance(chosen, FileFormat) else f"{LINE} STRING"


def spark_columns(columns: tuple[Column, ...]) -> str:
    """The columns themselves, as Spark DDL."""
    from execnodes.lowering.spark_sql import spark_type

    return ", ".join(f"{quote(c.name)} {spark_type(c.data_type)}" for c in columns)


def is_empty(chosen: Format, file: Path) -> bool:
    """Whether a written file holds no rows."""
    return chosen.is_empty(file) if isinstance(chosen, FileFormat) else file.stat().st_size == 0
