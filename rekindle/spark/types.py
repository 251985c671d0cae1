"""Types of Spark columns as SQL types of tables, and as Arrow's; `spark_type` of `execnodes.lowering` gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.errors import ConnectorError
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    Field,
    LogicalType,
    array,
    char,
    decimal,
    map_of,
    row,
    timestamp,
    timestamp_ltz,
    varchar,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType


def row_type(columns: StructType, where: str) -> LogicalType:
    """The columns of a DataFrame as a ROW; ConnectorError names a column that no table can have.

    All are nullable, whatever Spark says: a plan must also fit a frame that is made in another way.
    """
    return row(*(Field(each.name, logical_type(each.dataType, each.name, where)) for each in columns)).not_null()


def logical_type(given: DataType, column: str, where: str) -> LogicalType:
    """One type; `column` and `where` are for the ConnectorError."""
    from pyspark.sql import types as t

    match given:
        case t.CharType():
            return char(given.length)
        case t.VarcharType():
            return varchar(given.length)
        case t.DecimalType():
            return decimal(given.precision, given.scale)
        case t.ArrayType():
            return array(logical_type(given.elementType, column, where))
        case t.MapType():
            return map_of(logical_type(given.keyType, column, where), logical_type(given.valueType, column, where))
        case t.StructType():
            return row(*(Field(f.name, logical_type(f.dataType, f"{column}.{f.name}", where)) for f in given))
    found = _SIMPLE.get(given.typeName())
    if found is None:
        raise ConnectorError(
            f"column {column!r} has Spark's type {given.simpleString()}, which no table can have",
            where=where,
            hint="Cast the column to another type, or leave it out with DataFrame.drop.",
        )
    return found


_SIMPLE = {
    "string": STRING,
    "boolean": BOOLEAN,
    "byte": TINYINT,
    "short": SMALLINT,
    "integer": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "binary": BYTES,
    "date": DATE,
    "timestamp": timestamp_ltz(6),
    "timestamp_ntz": timestamp(6),
}


def arrow_type(given: DataType) -> pa.DataType:
    """The type that Spark has values in when it hands them to Python; instants are in UTC.

    PySpark has a function for this that each release calls otherwise.
    """
    import pyarrow as pa
    from pyspark.sql import types as t

    match given:
        case t.DecimalType():
            return pa.decimal128(given.precision, given.scale)
        case t.ArrayType():
            return pa.list_(pa.field("element", arrow_type(given.elementType), given.containsNull))
        case t.MapType():
            value = pa.field("value", arrow_type(given.valueType), given.valueContainsNull)
            return pa.map_(pa.field("key", arrow_type(given.keyType), nullable=False), value)
        case t.StructType():
            return pa.struct(list(arrow_schema(given)))
        case t.TimestampType():
            return pa.timestamp("us", "UTC")
        case t.TimestampNTZType():
            return pa.timestamp("us")
        case _:
            # What has no parameters; other types no table has.
            return pa.type_for_alias(_ARROW[given.typeName()])


def arrow_schema(columns: StructType) -> pa.Schema:
    """The same of columns."""
    import pyarrow as pa

    return pa.schema([pa.field(each.name, arrow_type(each.dataType), each.nullable) for each in columns])


_ARROW = {
    "string": "string",
    "boolean": "bool",
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "binary": "binary",
    "date": "date32",
    "void": "null",
}
