"""Frames of users' functions: rows of a state as pyarrow Tables, polars or pandas DataFrames, and back."""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import StateError

if TYPE_CHECKING:
    import pyarrow as pa

Function = Callable[[Any], Any]
"""Takes and gives a pyarrow Table; a polars or pandas DataFrame, if its first parameter is annotated so."""


def load_function(text: str) -> Function:
    """The function ``module:name``, looked for in the current folder, too; StateError if there is none."""
    module, _, name = text.partition(":")
    if not module or not name:
        raise StateError(f"{text!r} names no function", hint="Write module:function.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = pkgutil.resolve_name(text)
    except Exception as error:
        raise StateError(f"{text} cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise StateError(f"{text} is no function")
    function: Function = found
    return function


def name_of(function: Function) -> str:
    """``module:name``."""
    return f"{function.__module__}:{getattr(function, '__qualname__', type(function).__name__)}"


def apply(function: Function, library: str, rows: pa.Table) -> pa.Table:
    """Call a function with a frame of its library; StateError if it fails, or gives no frame."""
    frame: Any = rows
    if library == "polars":
        import polars as pl

        frame = pl.from_arrow(rows)
    elif library == "pandas":
        import pandas as pd

        # With Arrow's types whole numbers stay whole where there are NULLs.
        frame = rows.to_pandas(types_mapper=pd.ArrowDtype)
    try:
        return as_table(function(frame))
    except StateError:
        raise
    except Exception as error:
        raise StateError(f"{name_of(function)} failed: {type(error).__name__}: {error}") from error


def library_of(function: Function) -> str:
    """Whose frames a function takes: pyarrow, unless its first parameter is annotated as one of polars or pandas."""
    annotation: object = ""
    # An annotation may be a text whose names only a type checker knows; some callables tell nothing at all.
    for resolved in (False, True):
        with suppress(NameError, TypeError, ValueError):
            parameters = inspect.signature(function, eval_str=resolved).parameters.values()
            annotation = next((each.annotation for each in parameters), "")
    text = annotation if isinstance(annotation, str) else str(getattr(annotation, "__module__", ""))
    library = {"pl": "polars", "pd": "pandas"}.get(text.partition(".")[0], text.partition(".")[0])
    return library if library in ("polars", "pandas") else "pyarrow"


def as_table(frame: Any) -> pa.Table:
    """Rows of any of the libraries; StateError for anything else."""
    import pyarrow as pa

    library = type(frame).__module__.partition(".")[0]
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if library == "polars" and hasattr(frame, "to_arrow"):
        return pa.Table.from_batches(frame.to_arrow().to_batches(), frame.to_arrow().schema)
    if library == "pandas":
        return pa.Table.from_pandas(frame, preserve_index=False)
    raise StateError(f"the function gave a {type(frame).__name__}, which is no table", hint="Give a frame of rows.")


def conformed(rows: pa.Table, schema: pa.Schema, optional: str) -> pa.Table:
    """Rows with the columns and types of a schema; StateError if one is missing, too many, or would change values.

    `optional` is NULL where it is missing.
    """
    import pyarrow as pa

    if optional in schema.names and optional not in rows.column_names:
        rows = rows.append_column(optional, pa.nulls(rows.num_rows, pa.int64()))
    missing = [name for name in schema.names if name not in rows.column_names]
    extra = [name for name in rows.column_names if name not in schema.names]
    if missing or extra or len(rows.column_names) != len(schema.names):
        told = [f"missing: {', '.join(missing)}"] * bool(missing)
        told += [f"not of the state: {', '.join(extra)}"] * bool(extra)
        raise StateError(
            f"the columns differ: {'; '.join(told) or 'one occurs twice'}",
            hint="They are: " + ", ".join(f"{each.name} {each.type}" for each in schema),
        )
    columns = []
    for field in schema:
        column = rows.column(field.name)
        if (_kind(column.type), _kind(field.type)) not in _CASTS and column.null_count < len(column):
            raise StateError(f"column {field.name} is {column.type}, not {field.type}")
        try:
            columns.append(column.cast(field.type) if column.null_count < len(column) else _nulls(field, len(column)))
        except pa.ArrowInvalid as error:
            raise StateError(f"column {field.name} does not fit {field.type}: {error}") from error
    return pa.Table.from_arrays(columns, schema=schema)


def _nulls(field: pa.Field, count: int) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array([pa.nulls(count, field.type)])


_CASTS = {
    *((kind, kind) for kind in ("text", "bytes", "bool", "int", "float", "decimal", "date", "timestamp")),
    ("int", "float"), ("float", "int"), ("int", "decimal"), ("decimal", "int"), ("timestamp", "date"),
}  # fmt: skip
"""Kinds of types; what changes a value is refused by Arrow."""


def _kind(t: pa.DataType) -> str:
    import pyarrow as pa

    types = pa.types
    tests: dict[str, Callable[[pa.DataType], bool]] = {
        "text": lambda each: types.is_string(each) or types.is_large_string(each) or types.is_string_view(each),
        "bytes": lambda each: types.is_binary(each) or types.is_large_binary(each) or types.is_binary_view(each),
        "bool": types.is_boolean,
        "int": types.is_integer,
        "float": types.is_floating,
        "decimal": types.is_decimal,
        "date": types.is_date,
        "timestamp": types.is_timestamp,
    }
    return next((kind for kind, test in tests.items() if test(t)), str(t))
