"""Window table functions: TUMBLE, HOP, CUMULATE, SESSION."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import InputRef, Literal
from execnodes.core.places import place
from execnodes.core.types import LogicalType, Root, timestamp
from planner import syntax as s
from planner.algebra import Logical, Window, WindowTableFunction
from planner.algebra.columns import unique_names
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter
from planner.bind.folding import fold
from planner.bind.scope import Scope
from planner.bind.source import Source, aliased, row_of

PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
_OPTIONAL = ("OFFSET",)
COLUMNS = ("window_start", "window_end", "window_time")


def is_window_function(node: s.TableFunction) -> bool:
    """Whether it is one of these; others are the user's."""
    return node.name.upper() in PARAMETERS


def window_function(builder: Builder, node: s.TableFunction) -> Source:
    """The rows of a table with their windows."""
    name = node.name.upper()
    given = _arguments(node, PARAMETERS[name])
    source = _data(builder, name, given["DATA"])
    time = _time_column(builder, source, given["TIMECOL"])
    lengths = {key: _millis(builder, key, given[key]) for key in given if key not in ("DATA", "TIMECOL")}
    partition = _partition(builder, source, given["DATA"])
    window = make_window(name, lengths, partition, node.position)
    plan = attach(source.logical, window, time, node.position)
    # By name a column of the input that is called so, too, cannot be told from the function's.
    names = (*(field.name for each in source.scope.relations for field in each.fields), *COLUMNS)
    return aliased(plan, node.alias, node.position, names)


def attach(plan: Logical, window: Window, time: InputRef, position: Position) -> WindowTableFunction:
    """The function over a plan: its columns, then window_start, window_end and window_time."""
    fields = plan.type.fields
    names = unique_names([*(field.name for field in fields), *COLUMNS])
    bound = timestamp(3).not_null()
    own = LogicalType(time.type.root, nullable=False, precision=3, kind=time.type.kind)
    type_ = row_of(names, [*(field.type for field in fields), bound, bound, own])
    at = place(position.line, position.column, window.kind)
    return WindowTableFunction(plan, window, time.input_index, type_, position, at)


def make_window(name: str, lengths: dict[str, int], partition: tuple[int, ...], position: Position) -> Window:
    """The window of these lengths in milliseconds; SqlError if they do not fit together.

    Slides of a HOP need not fill it: the lowering of streams refuses those of table functions, as Flink does
    where they are aggregated.
    """
    size = lengths.get("SIZE", lengths.get("GAP", 0))
    step = lengths.get("SLIDE", lengths.get("STEP", 0))
    for key, value in lengths.items():
        if key != "OFFSET" and value <= 0:
            raise SqlError(f"{key} of {name} must be positive, not {value} ms", position=position)
    if name == "CUMULATE" and size % step:
        raise SqlError(
            "CUMULATE table function based aggregate requires maxSize must be an integral multiple of step, "
            f"but got maxSize {size} ms and step {step} ms",
            position=position,
        )
    offset = lengths.get("OFFSET", 0)
    if name == "TUMBLE" and abs(offset) >= size:
        raise SqlError(f"the offset of {name}, {offset} ms, must be less than {size} ms", position=position)
    cycle = step if name == "HOP" else size
    if cycle and abs(offset) >= cycle:
        # As in Flink: windows that lie whole cycles further on are the same ones.
        offset %= cycle
    return Window(name, size, step, offset, partition)


@dataclass(frozen=True)
class _Given:
    value: s.Expr | s.TableArgument | s.Descriptor
    position: Position


def _arguments(node: s.TableFunction, parameters: tuple[str, ...]) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for index, argument in enumerate(node.args):
        name = argument.name or (parameters[index] if index < len(parameters) else None)
        if name not in parameters or name in found:
            raise SqlError(
                f"{node.name} takes {', '.join(parameters)}",
                position=argument.position,
                hint="Leave this argument out.",
            )
        found[name] = _Given(argument.value, argument.position)
    missing = [name for name in parameters if name not in found and name not in _OPTIONAL]
    if missing:
        hint = f"Write {node.name}({', '.join(each for each in parameters if each not in _OPTIONAL)})."
        raise SqlError(f"{node.name} needs {', '.join(missing)}", position=node.position, hint=hint)
    return found


def _data(builder: Builder, name: str, given: _Given) -> Source:
    value = given.value
    if isinstance(value, s.Name):
        value = s.TableArgument(s.TableName(value.parts, position=value.position), position=value.position)
    if not isinstance(value, s.TableArgument):
        raise SqlError(f"the first argument of {name} is a table", position=given.position, hint="Write TABLE t.")
    if value.partition and name != "SESSION":
        raise SqlError(
            f"{name} takes no PARTITION BY", position=given.position, hint="Group by those columns afterwards."
        )
    relation = value.relation
    return builder.table(relation) if isinstance(relation, s.TableName) else builder.derived(relation)


def _time_column(builder: Builder, source: Source, given: _Given) -> InputRef:
    if not isinstance(given.value, s.Descriptor) or len(given.value.columns) != 1:
        raise SqlError("TIMECOL is one column", position=given.position, hint="Write DESCRIPTOR(ts).")
    return time_attribute(builder, source.scope, given.value.columns[0])


def time_attribute(builder: Builder, scope: Scope, node: s.Expr) -> InputRef:
    """A column that is a time attribute or, in batch, any timestamp; SqlError if it is none."""
    column = scope.resolve(node) if isinstance(node, s.Name) else None
    if not isinstance(column, InputRef):
        raise SqlError("the time of a window is a plain column", position=node.position)
    batch = builder.configuration.get_option("execution.runtime-mode") == "batch"
    if not column.type.is_time_attribute and not (batch and column.type.root in (Root.TIMESTAMP, Root.TIMESTAMP_LTZ)):
        raise SqlError(
            f"The window function requires the timecol is a time attribute type, but is {column.type}.",
            position=node.position,
            hint="Declare a WATERMARK for the column, or use a column AS PROCTIME(); functions and casts make a time "
            "attribute a plain timestamp.",
        )
    return column


def _millis(builder: Builder, key: str, given: _Given) -> int:
    value = given.value
    if isinstance(value, s.TableArgument | s.Descriptor):
        raise SqlError(f"{key} is an interval", position=given.position, hint="Write e.g. INTERVAL '10' SECOND.")
    return interval_millis(Converter(Scope(()), builder.catalog, clause=key), value)


def interval_millis(converter: Converter, node: s.Expr) -> int:
    """A constant day-time interval in milliseconds."""
    found = fold(converter.convert(node))
    if not isinstance(found, Literal) or found.type.root is not Root.INTERVAL_DAY_TIME:
        hint = "Windows of months or years are not supported: write days." if "MONTH" in str(found.type) else None
        raise SqlError(
            "a window's length is a constant interval",
            position=node.position,
            hint=hint or "Write e.g. INTERVAL '10' SECOND.",
        )
    return int(str(found.value))


def _partition(builder: Builder, source: Source, given: _Given) -> tuple[int, ...]:
    if not isinstance(given.value, s.TableArgument):
        return ()
    converter = Converter(source.scope, builder.catalog, clause="PARTITION BY")
    found = []
    for key in given.value.partition:
        column = converter.convert(key)
        if not isinstance(column, InputRef):
            raise SqlError("PARTITION BY of a window function takes plain columns", position=key.position)
        found.append(column.input_index)
    return tuple(found)
