"""Small hand-built logical plans."""

from __future__ import annotations

from execnodes.core.expressions import AggregateCall, Call, Expression, InputRef, Literal, Value
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.tables import Column, PersistedExpression, PrimaryKey, ResolvedTable, Schema, WatermarkSpec
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
from planner.algebra import (
    Aggregate,
    Filter,
    Join,
    JoinType,
    Logical,
    Over,
    OverCall,
    Project,
    Scan,
    Sink,
    SortKey,
    WatermarkAssigner,
    Window,
    WindowTableFunction,
)
from planner.lower import lower
from planner.optimize import optimize

ROWTIME = timestamp(3, TimeKind.ROWTIME)
COLUMNS = (Field("k", STRING), Field("v", INT), Field("w", INT), Field("ts", timestamp(3)))


def table(
    fields: tuple[Field, ...] = COLUMNS,
    key: tuple[str, ...] = (),
    watermark: str | None = None,
    **options: str,
) -> ResolvedTable:
    """A table; options with ``_`` for ``.``."""
    spec: tuple[WatermarkSpec, ...] = ()
    if watermark:
        names = [field.name for field in fields]
        ref = InputRef(input_index=names.index(watermark), type=timestamp(3))
        spec = (
            WatermarkSpec(
                rowtime_attribute=watermark,
                expression=PersistedExpression(rex_node=ref, serializable_string=watermark),
            ),
        )
    schema = Schema(
        columns=tuple(Column(name=each.name, data_type=each.type) for each in fields),
        watermark_specs=spec,
        primary_key=PrimaryKey(name="PK", columns=key) if key else None,
    )
    given = {"connector": "filesystem", "format": "json"} | {name.replace("_", "."): v for name, v in options.items()}
    return ResolvedTable.model_validate({"schema": schema, "options": given})


def scan(name: str = "t", resolved: ResolvedTable | None = None) -> Scan:
    resolved = resolved or table()
    type = row(*(Field(c.name, c.data_type) for c in resolved.table_schema.columns))
    return Scan(("c", "d", name), resolved, type)


def watermarked(name: str = "t") -> WatermarkAssigner:
    source = scan(name, table(watermark="ts"))
    fields = source.type.fields
    type = row(*fields[:3], Field("ts", ROWTIME))
    delay = Literal(value=2000, type=INTERVAL_DAY_TIME)
    watermark = Call(internal_name="$-$1", operands=(ref(source, 3), delay), type=timestamp(3))
    return WatermarkAssigner(source, 3, watermark, type)


def sink(input: Logical, name: str = "s", key: tuple[str, ...] = (), connector: str = "print", **more: object) -> Sink:
    fields = tuple(Field(f"c{at}", each.type.regular()) for at, each in enumerate(input.type.fields))
    resolved = table(fields, key)
    resolved = resolved.model_copy(update={"options": {"connector": connector}})
    return Sink(input, ("c", "d", name), resolved, **more)  # type: ignore[arg-type]


def ref(node: Logical, index: int) -> InputRef:
    return InputRef(input_index=index, type=node.type.fields[index].type)


def lit(value: Value, type: LogicalType = INT) -> Literal:
    return Literal(value=value, type=type.not_null())


def call(name: str, *operands: Expression, type: LogicalType = BOOLEAN) -> Call:
    return Call(internal_name=f"${name}$1", operands=operands, type=type)


def project(node: Logical, *expressions: Expression, names: str | None = None) -> Project:
    called = (names or " ".join(f"p{at}" for at in range(len(expressions)))).split()
    return Project(node, expressions, row(*(Field(n, e.type) for n, e in zip(called, expressions, strict=True))))


def where(node: Logical, condition: Expression) -> Filter:
    return Filter(node, condition)


def aggregate(node: Logical, grouping: tuple[int, ...], *calls: AggregateCall, **more: object) -> Aggregate:
    keys = [node.type.fields[each] for each in grouping]
    results = [Field(each.name, each.type) for each in calls]
    return Aggregate(node, grouping, calls, row(*keys, *results), **more)  # type: ignore[arg-type]


def total(column: int, name: str = "s", function: str = "SUM", **more: object) -> AggregateCall:
    return AggregateCall.model_validate(
        {"name": name, "internal_name": f"${function}$1", "arg_list": (column,), "type": INT, **more}
    )


def count(name: str = "n") -> AggregateCall:
    return AggregateCall(name=name, internal_name="$COUNT$1", type=BIGINT.not_null())


def join(left: Logical, right: Logical, kind: JoinType, condition: Expression, **more: object) -> Join:
    semi = kind in (JoinType.SEMI, JoinType.ANTI)
    type = row(*left.type.fields, *(() if semi else right.type.fields))
    return Join(left, right, kind, condition, type, **more)  # type: ignore[arg-type]


def windows(node: Logical, kind: str = "TUMBLE", size: int = 10_000, step: int = 0) -> WindowTableFunction:
    at = len(node.type.fields) - 1
    plain = timestamp(3).not_null()
    added = (Field("window_start", plain), Field("window_end", plain), Field("window_time", ROWTIME.not_null()))
    return WindowTableFunction(node, Window(kind, size, step), at, row(*node.type.fields, *added))


def numbered(node: Logical, order: int, ascending: bool = True, partition: tuple[int, ...] = (0,)) -> Over:
    calls = (OverCall("ROW_NUMBER", "$ROW_NUMBER$1", (), BIGINT.not_null()),)
    type = row(*node.type.fields, Field("rn", BIGINT.not_null()))
    return Over(node, partition, (SortKey(order, ascending),), calls, type, rows=True)


def compiled(*sinks: Sink, **options: str) -> ExecGraph:
    configuration = Configuration()
    for key, value in options.items():
        configuration.put(key.replace("__", "-").replace("_", "."), value)
    return lower(optimize(sinks, configuration), configuration)


def kinds(graph: ExecGraph) -> list[str]:
    return [node.key.name.removeprefix("stream-exec-") for node in graph.nodes]


def at(index: int, type: object = INT) -> InputRef:
    return InputRef.model_validate({"input_index": index, "type": type})
