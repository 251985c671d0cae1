"""Small nodes for tests of plans; they stand where the registry looks for nodes, but in no folder."""

from __future__ import annotations

import sys
from types import ModuleType

from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.graph import ExecGraph
from execnodes.core.indexes import ColumnIndex
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import Distribution, ExecNode, InputProperty, PlanModel, StateMetadata
from execnodes.core.outputs import Outputs, projected
from execnodes.core.source_node import SourceNode
from execnodes.core.tables import (
    Column,
    PersistedExpression,
    PrimaryKey,
    ResolvedTable,
    Schema,
    TableReference,
    WatermarkSpec,
)
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    INT,
    INTERVAL_DAY_TIME,
    STRING,
    Field,
    LogicalType,
    TimeKind,
    row,
    timestamp,
)
from execnodes.lowering.stream import Lowering, Rows


class _Node(ExecNode):
    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        raise NotImplementedError


class ProbeSource(PlanModel):
    table: TableReference


@exec_node_metadata(
    name="stream-exec-probe-scan",
    version=1,
    produced_operators=["probe"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class ProbeScan(_Node, SourceNode):
    """Reads a table."""

    scan_table_source: ProbeSource

    @property
    def source(self) -> TableReference:
        return self.scan_table_source.table


@exec_node_metadata(
    name="stream-exec-probe-calc",
    version=1,
    produced_operators=["probe"],
    min_plan_version="1.0",
    min_state_version="1.0",
    consumed_options=["table.local-time-zone"],
)
class ProbeCalc(_Node):
    """Projects and filters."""

    projection: tuple[Expression, ...]
    condition: Expression | None = None
    limit: int = 0
    exact: bool = False
    careful: bool = True
    bounds: tuple[tuple[int, ...], ...] = ()
    aliases: dict[str, str] | None = None

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        return projected(self.projection)


@exec_node_metadata(
    name="stream-exec-probe-count",
    version=1,
    produced_operators=["probe-count"],
    min_plan_version="1.0",
    min_state_version="1.0",
    consumed_options=["table.exec.uid.format", "table.exec.mini-batch.enabled"],
)
class ProbeCount(_Node):
    """Keeps state."""

    grouping: tuple[ColumnIndex, ...]

    def uids(self) -> tuple[str, ...]:
        return (self.uid("probe-count"),)


@exec_node_metadata(
    name="stream-exec-probe-sink",
    version=1,
    produced_operators=["probe"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class ProbeSink(_Node):
    """Writes a table; refuses inputs of other widths."""

    dynamic_table_sink: ProbeSource

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        for each in inputs:
            if len(each.fields) != len(self.output_type.fields):
                raise self.fail("the sink has another number of columns", "Compile the plan anew.")


for _cls in (ProbeScan, ProbeCalc, ProbeCount, ProbeSink):
    _module = ModuleType(_cls.newest().key.module)
    setattr(_module, _cls.__name__, _cls)
    sys.modules[_module.__name__] = _module

ROWTIME = timestamp(3, TimeKind.ROWTIME)
ROW = row(Field("id", INT.not_null()), Field("name ü`", STRING), Field("ts", ROWTIME)).not_null()
ORDERS = ("default_catalog", "default_database", "orders")
TOTALS = ("default_catalog", "default_database", "totals")


def orders_table(**options: str) -> ResolvedTable:
    """A source with a computed column, a watermark, a key, partitions."""
    watermark = Call(
        internal_name="$-$1", type=timestamp(3),
        operands=(InputRef(input_index=2, type=timestamp(3)), Literal(value=5000, type=INTERVAL_DAY_TIME)),
    )  # fmt: skip
    return ResolvedTable(
        table_schema=Schema(
            columns=(
                Column(name="id", data_type=INT.not_null()),
                Column(name="name ü`", data_type=STRING, comment="who"),
                Column(name="ts", data_type=ROWTIME, kind="METADATA", metadata_key="timestamp", is_virtual=True),
            ),
            watermark_specs=(
                WatermarkSpec(
                    rowtime_attribute="ts",
                    expression=PersistedExpression(
                        rex_node=watermark, serializable_string="`ts` - INTERVAL '5' SECOND"
                    ),
                ),
            ),
            primary_key=PrimaryKey(name="PK_id", columns=("id",)),
        ),
        partition_keys=("name ü`",),
        comment="orders",
        options={"path": "/data/orders", "connector": "filesystem", **options},
    )


def totals_table(**options: str) -> ResolvedTable:
    """A sink."""
    columns = (Column(name="id", data_type=INT), Column(name="n", data_type=BIGINT))
    return ResolvedTable(table_schema=Schema(columns=columns), options={"connector": "print", **options})


def example(source: TableReference | None = None, sink: TableReference | None = None) -> ExecGraph:
    """scan -> calc -> count -> sink."""
    orders = source or TableReference(identifier=ORDERS, resolved_table=orders_table())
    totals = sink or TableReference(identifier=TOTALS, resolved_table=totals_table())
    condition = Call(
        internal_name="$=$1", operands=(InputRef(input_index=1, type=STRING), Literal(value="é \n", type=STRING)),
        type=BOOLEAN,
    )  # fmt: skip
    counted = row(Field("id", INT.not_null()), Field("n", BIGINT)).not_null()
    one = (InputProperty(),)
    nodes = (
        ProbeScan(id=1, scan_table_source=ProbeSource(table=orders), output_type=ROW, description="Scan(orders)"),
        ProbeCalc(
            id=2,
            configuration={"table.local-time-zone": "Europe/Berlin"},
            projection=(InputRef(input_index=0, type=INT.not_null()), Literal(value=None, type=BIGINT)),
            condition=condition,
            bounds=((), (1, 2)),
            aliases={"z": "1", "a": "2"},
            input_properties=one,
            output_type=counted,
            description="Calc",
        ),
        ProbeCount(
            id=5,
            configuration={"table.exec.uid.format": "<id>_<operator>", "table.exec.mini-batch.enabled": "false"},
            grouping=(0,),
            state=(StateMetadata(index=0, name="probeState", ttl="4 d"),),
            input_properties=(InputProperty(required_distribution=Distribution(type="HASH", keys=(0,))),),
            output_type=counted,
            description="Count",
        ),
        ProbeSink(
            id=6, dynamic_table_sink=ProbeSource(table=totals), input_properties=one, output_type=counted,
            description="Sink",
        ),
    )  # fmt: skip
    return ExecGraph.of(nodes, {2: (1,), 5: (2,), 6: (5,)}, 8)
