"""Tables that lookup joins ask, as Arrow functions of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from execnodes.common.lookups import LookupNode
from execnodes.core.errors import ConnectorError, JobError
from execnodes.core.types import LogicalType
from execnodes.lowering.spark_sql import spark_type
from rekindle.connectors.base import FOUND_FOR, LookupReader, LookupTable
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.failures import explained
from rekindle.spark.types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from execnodes.core.graph import ExecGraph


@dataclass(frozen=True)
class LookupCall:
    """A function that gives the rows of a table for keys, as Spark's workers run it."""

    reader: LookupReader
    result: LogicalType
    """An ARRAY of ROWs."""
    arrow: pa.DataType
    deterministic: bool = field(default=False, init=False)
    """What a table holds may change."""

    def __call__(self, active: pa.Array, *keys: pa.Array) -> pa.Array:
        """The column of arrays; empty for rows that are not `active` (BOOLEAN), or have a NULL among their keys.

        JobError if the table cannot be asked.
        """
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        mask = active.fill_null(False)
        for each in keys:
            mask = pc.and_(mask, each.is_valid())
        counts = np.zeros(len(mask), np.int64)
        if not mask.true_count:
            found = pa.table({f"c{at}": pa.array([], each.type) for at, each in enumerate(self.arrow.value_type)})
        else:
            wanted = pa.table({f"k{at}": each.filter(mask) for at, each in enumerate(keys)})
            found = self._find(wanted)
            of_keys = np.bincount(found[FOUND_FOR].to_numpy(), minlength=len(wanted))
            counts[mask.to_numpy(zero_copy_only=False)] = of_keys
            found = found.drop_columns(FOUND_FOR)
        # Of no chunk there would be no type.
        members = [pa.concat_arrays([pa.array([], column.type), *column.chunks]) for column in found.columns]
        values = pa.StructArray.from_arrays(members, fields=list(self.arrow.value_type))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), values, type=self.arrow)

    def _find(self, keys: pa.Table) -> pa.Table:
        try:
            return self.reader.find(keys)
        except ConnectorError as error:
            raise JobError(error.message, where=error.where, hint=error.hint) from error


@dataclass(frozen=True)
class Lookups:
    """Those of a job."""

    tables: tuple[LookupTable, ...]
    calls: Mapping[str, LookupCall]
    """By the names of these functions in Spark."""

    @classmethod
    def of(cls, graph: ExecGraph, requests: Requests) -> Lookups:
        """Those of a plan; ConnectorError for a table that cannot be asked."""
        import pyarrow as pa
        from pyspark.sql.types import DataType

        tables, calls = list[LookupTable](), dict[str, LookupCall]()
        for node in graph.nodes:
            if isinstance(node, LookupNode):
                arrow = arrow_type(DataType.fromDDL(spark_type(node.answer_type)))
                table = requests.lookup(node, pa.schema(list(arrow.value_type)))
                tables.append(table)
                calls[node.function] = LookupCall(table.reader, node.answer_type, arrow)
        return cls(tuple(tables), calls)

    def refresh(self, spark: SparkSession) -> None:
        """Rows that come are to find what the tables hold now; RekindleError for a table that cannot be read."""
        from pyspark.errors import PySparkException

        try:
            for each in self.tables:
                if each.refresh is not None:
                    each.refresh(spark)
        except PySparkException as error:
            raise explained(error) from error
