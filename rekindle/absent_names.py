"""What programs of PyFlink import that is not here, and what to write in its place."""

from __future__ import annotations

_NO_DATA_STREAMS = (
    "there is no DataStream API; use TableEnvironment, whose from_data_stream and as_data_stream take and give "
    "DataFrames of Spark"
)

ABSENT = {
    "StreamTableEnvironment": _NO_DATA_STREAMS,
    "StreamExecutionEnvironment": _NO_DATA_STREAMS,
    "Types": _NO_DATA_STREAMS,
    "Instant": _NO_DATA_STREAMS,
    "TableSchema": "use ResolvedSchema, which has its methods",
    "json": "write call('JSON', …): the name would hide Python's module",
    "range_": "name the columns",
    "with_columns": "name the columns",
    "without_columns": "use drop_columns",
}
"""By the name; docs/pyflink.md has them all."""
