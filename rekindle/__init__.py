"""Rekindle: long-running streaming SQL on Spark that can be upgraded.

The names that programs use, as PyFlink has them; each is loaded when it is asked for, and none of them loads Spark.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rekindle.absent_names import ABSENT
from rekindle.moved import OldPaths
from rekindle.own_packages import OwnPackages, require_own_packages

if TYPE_CHECKING:
    from execnodes.core.changelog import RowKind
    from execnodes.core.explain_details import (
        ExplainDetail,
    )
    from execnodes.user_functions.rows import Row
    from rekindle.api.data_types import DataTypes
    from rekindle.api.environment_settings import EnvironmentSettings
    from rekindle.api.expression_calls import (
        atan2,
        convert_tz,
        current_database,
        current_watermark,
        e,
        from_unixtime,
        json_array,
        json_array_agg,
        json_object,
        json_object_agg,
        json_string,
        lag,
        lead,
        log,
        map_from_arrays,
        negative,
        rand_integer,
        source_watermark,
        temporal_overlaps,
        to_date,
        to_timestamp,
        unix_timestamp,
        with_all_columns,
    )
    from rekindle.api.expression_dsl import (
        and_,
        array,
        call,
        call_sql,
        coalesce,
        col,
        concat,
        concat_ws,
        current_date,
        current_time,
        current_timestamp,
        date_format,
        if_then_else,
        lit,
        local_time,
        local_timestamp,
        map_,
        not_,
        null_of,
        or_,
        pi,
        rand,
        row,
        timestamp_diff,
        to_timestamp_ltz,
        uuid,
    )
    from rekindle.api.expressions import Expression
    from rekindle.api.json_methods import (
        JsonExistsOnError,
        JsonOnNull,
        JsonQueryOnEmptyOrError,
        JsonQueryWrapper,
        JsonType,
        JsonValueOnEmptyOrError,
    )
    from rekindle.api.schema import Schema
    from rekindle.api.statement_set import StatementSet
    from rekindle.api.table import Table, TablePipeline
    from rekindle.api.table_config import TableConfig
    from rekindle.api.table_descriptor import FormatDescriptor, TableDescriptor
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.api.windows import (
        CURRENT_RANGE,
        CURRENT_ROW,
        UNBOUNDED_RANGE,
        UNBOUNDED_ROW,
        Over,
        Session,
        Slide,
        Tumble,
        row_interval,
    )
    from rekindle.results.closeable_iterator import CloseableIterator
    from rekindle.results.compiled_plan import CompiledPlan
    from rekindle.results.resolved_schema import ResolvedSchema
    from rekindle.results.table_result import ResultKind, TableResult
    from rekindle.savepoints.reader import SavepointReader
    from rekindle.savepoints.writer import SavepointWriter
    from rekindle.udf import (
        AggregateFunction,
        AsyncScalarFunction,
        DataView,
        FunctionContext,
        ListView,
        MapView,
        ScalarFunction,
        TableAggregateFunction,
        TableFunction,
        udaf,
        udf,
        udtaf,
        udtf,
    )

__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "AggregateFunction",
    "AsyncScalarFunction",
    "CloseableIterator",
    "CompiledPlan",
    "DataTypes",
    "DataView",
    "EnvironmentSettings",
    "ExplainDetail",
    "Expression",
    "FormatDescriptor",
    "FunctionContext",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "ListView",
    "MapView",
    "Over",
    "ResolvedSchema",
    "ResultKind",
    "Row",
    "RowKind",
    "SavepointReader",
    "SavepointWriter",
    "ScalarFunction",
    "Schema",
    "Session",
    "Slide",
    "StatementSet",
    "Table",
    "TableAggregateFunction",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TablePipeline",
    "TableResult",
    "Tumble",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "e",
    "from_unixtime",
    "if_then_else",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lag",
    "lead",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "map_from_arrays",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
    "unix_timestamp",
    "uuid",
    "with_all_columns",
]

_MODULES = {
    "JsonExistsOnError": "rekindle.api.json_methods",
    "JsonOnNull": "rekindle.api.json_methods",
    "JsonQueryOnEmptyOrError": "rekindle.api.json_methods",
    "JsonQueryWrapper": "rekindle.api.json_methods",
    "JsonType": "rekindle.api.json_methods",
    "JsonValueOnEmptyOrError": "rekindle.api.json_methods",
    "atan2": "rekindle.api.expression_calls",
    "convert_tz": "rekindle.api.expression_calls",
    "current_database": "rekindle.api.expression_calls",
    "current_watermark": "rekindle.api.expression_calls",
    "e": "rekindle.api.expression_calls",
    "from_unixtime": "rekindle.api.expression_calls",
    "json_array": "rekindle.api.expression_calls",
    "json_array_agg": "rekindle.api.expression_calls",
    "json_object": "rekindle.api.expression_calls",
    "json_object_agg": "rekindle.api.expression_calls",
    "json_string": "rekindle.api.expression_calls",
    "lag": "rekindle.api.expression_calls",
    "lead": "rekindle.api.expression_calls",
    "log": "rekindle.api.expression_calls",
    "map_from_arrays": "rekindle.api.expression_calls",
    "negative": "rekindle.api.expression_calls",
    "rand_integer": "rekindle.api.expression_calls",
    "source_watermark": "rekindle.api.expression_calls",
    "temporal_overlaps": "rekindle.api.expression_calls",
    "to_date": "rekindle.api.expression_calls",
    "to_timestamp": "rekindle.api.expression_calls",
    "unix_timestamp": "rekindle.api.expression_calls",
    "with_all_columns": "rekindle.api.expression_calls",
    "ExplainDetail": "execnodes.core.explain_details",
    "FormatDescriptor": "rekindle.api.table_descriptor",
    "ResultKind": "rekindle.results.table_result",
    "CloseableIterator": "rekindle.results.closeable_iterator",
    "Row": "execnodes.user_functions.rows",
    "RowKind": "execnodes.core.changelog",
    "CompiledPlan": "rekindle.results.compiled_plan",
    "SavepointReader": "rekindle.savepoints.reader",
    "SavepointWriter": "rekindle.savepoints.writer",
    "Schema": "rekindle.api.schema",
    "StatementSet": "rekindle.api.statement_set",
    "Table": "rekindle.api.table",
    "TableEnvironment": "rekindle.api.table_environment",
    "TableResult": "rekindle.results.table_result",
    "DataTypes": "rekindle.api.data_types",
    "EnvironmentSettings": "rekindle.api.environment_settings",
    "Expression": "rekindle.api.expressions",
    "TableConfig": "rekindle.api.table_config",
    "TableDescriptor": "rekindle.api.table_descriptor",
    "TablePipeline": "rekindle.api.table",
    "ResolvedSchema": "rekindle.results.resolved_schema",
    "Tumble": "rekindle.api.windows",
    "Slide": "rekindle.api.windows",
    "Session": "rekindle.api.windows",
    "Over": "rekindle.api.windows",
    "CURRENT_RANGE": "rekindle.api.windows",
    "CURRENT_ROW": "rekindle.api.windows",
    "UNBOUNDED_RANGE": "rekindle.api.windows",
    "UNBOUNDED_ROW": "rekindle.api.windows",
    "row_interval": "rekindle.api.windows",
    "col": "rekindle.api.expression_dsl",
    "lit": "rekindle.api.expression_dsl",
    "call": "rekindle.api.expression_dsl",
    "call_sql": "rekindle.api.expression_dsl",
    "and_": "rekindle.api.expression_dsl",
    "or_": "rekindle.api.expression_dsl",
    "not_": "rekindle.api.expression_dsl",
    "if_then_else": "rekindle.api.expression_dsl",
    "coalesce": "rekindle.api.expression_dsl",
    "concat": "rekindle.api.expression_dsl",
    "concat_ws": "rekindle.api.expression_dsl",
    "row": "rekindle.api.expression_dsl",
    "array": "rekindle.api.expression_dsl",
    "map_": "rekindle.api.expression_dsl",
    "null_of": "rekindle.api.expression_dsl",
    "current_date": "rekindle.api.expression_dsl",
    "current_time": "rekindle.api.expression_dsl",
    "current_timestamp": "rekindle.api.expression_dsl",
    "local_time": "rekindle.api.expression_dsl",
    "local_timestamp": "rekindle.api.expression_dsl",
    "to_timestamp_ltz": "rekindle.api.expression_dsl",
    "date_format": "rekindle.api.expression_dsl",
    "timestamp_diff": "rekindle.api.expression_dsl",
    "pi": "rekindle.api.expression_dsl",
    "rand": "rekindle.api.expression_dsl",
    "uuid": "rekindle.api.expression_dsl",
}

require_own_packages()
sys.meta_path[:0] = [OldPaths(), OwnPackages()]


class _Package(ModuleType):
    """The function `udf` has the name of the module that it is in, which Python binds here when it is imported."""

    @property
    def udf(self) -> Any:
        return import_module(f"{__name__}.udf").udf

    @udf.setter
    def udf(self, module: ModuleType) -> None:
        """`rekindle.udf` stands in `sys.modules`; here the name is that of the function."""


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in ABSENT:
        # `from rekindle import …` would say nothing of an AttributeError.
        raise ImportError(f"{name} of PyFlink is not in {__name__}: {ABSENT[name]}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, f"{__name__}.udf")), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
