"""Functions of the user: what programs import to write them. Names are those of ``pyflink.table.udf``."""

from execnodes.state.serializers.avro import avro
from execnodes.user_functions.aggregate import AggregateFunction, udaf
from execnodes.user_functions.data_views import DataView, ListView, MapView
from execnodes.user_functions.scalar import AsyncScalarFunction, FunctionContext, ScalarFunction, udf
from execnodes.user_functions.table import TableFunction, udtf
from execnodes.user_functions.table_aggregate import TableAggregateFunction, udtaf
from rekindle.api import expressions as _expressions  # noqa: F401  # so that f() is one

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "DataView",
    "FunctionContext",
    "ListView",
    "MapView",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "avro",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]
