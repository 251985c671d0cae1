"""Functions of the user: what programs import to write them. Names are those of ``pyflink.table.udf``."""

from execnodes.state.serializers.avro import avro
from execnodes.user_functions.aggregate import AggregateFunction, udaf
from execnodes.user_functions.scalar import FunctionContext, ScalarFunction, udf

__all__ = ["AggregateFunction", "FunctionContext", "ScalarFunction", "avro", "udaf", "udf"]
