"""Functions of the user: what programs import to write them. Names are those of ``pyflink.table.udf``."""

from execnodes.state.serializers.avro import avro
from execnodes.user_functions.aggregate import AggregateFunction, udaf
from execnodes.user_functions.scalar import AsyncScalarFunction, FunctionContext, ScalarFunction, udf
from execnodes.user_functions.table import TableFunction, udtf

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ScalarFunction",
    "TableFunction",
    "avro",
    "udaf",
    "udf",
    "udtf",
]
