"""Whether a plan agrees with itself: every index names a column, every type is that of what it stands for.

A plan that was changed by hand can say that column 3 is an INT where the input has a text there, or count columns from
the end. Nothing that runs looks again, so everything is compared when a plan is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from execnodes import aggregates
from execnodes.common.lookups import LookupNode
from execnodes.core.errors import PlanError, SqlError
from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied
from execnodes.core.sink_node import SinkNode
from execnodes.core.source_node import SourceNode
from execnodes.core.tables import TableReference
from execnodes.core.time_precision import narrow_to_microseconds
from execnodes.core.types import BIGINT, DOUBLE, INTEGERS, LogicalType, Root
from execnodes.core.words import counted
from execnodes.functions.function import Invocation
from execnodes.functions.registry import find
from plans.format.references import Column, Part, references
from plans.format.walk import dotted

_HINT = "Restore the file, or compile the plan anew."
_NARROWED = ("%", "MOD")
"""Their result has the type of the second operand as it was written, which may be smaller than what is computed."""
_RANKS = {"ROW_NUMBER": BIGINT, "RANK": BIGINT, "DENSE_RANK": BIGINT, "PERCENT_RANK": DOUBLE, "CUME_DIST": DOUBLE}


def disagreements(node: ExecNode, inputs: tuple[LogicalType, ...], engine_version: str) -> Iterator[PlanError]:
    """Everything in a node that does not agree with its inputs or with itself."""
    if len(inputs) not in node.INPUTS:
        yield node.fail(
            f"{counted(len(inputs), 'edge leads', 'edges lead')} to it, but it has {_inputs(node.INPUTS)}",
            "Add or remove edges of the plan.",
        )
        return
    if node.output_type.root is not Root.ROW:
        yield node.fail(f"outputType is {node.output_type}, not a ROW", _HINT)
        return
    found = [*_references(node, inputs, engine_version)]
    if not found:
        # What follows reads columns by their indexes.
        found = [*_calls(node, inputs), *_output(node, inputs), *_tables(node, inputs)]
    for path, message in found:
        yield node.fail(f"{path}: {message}", _HINT)


def input_types(nodes: Sequence[ExecNode], inputs: Mapping[int, tuple[int, ...]]) -> list[tuple[LogicalType, ...]]:
    """What each node reads."""
    types = {node.id: node.output_type for node in nodes}
    return [tuple(types[each] for each in inputs[node.id]) for node in nodes]


def _inputs(most: range) -> str:
    if len(most) == 1:
        return counted(most[0], "input") if most[0] else "no inputs"
    return f"at least {counted(most[0], 'input')}"


Found = Iterator[tuple[str, str]]
"""A property and what is wrong with it."""


def _references(node: ExecNode, inputs: tuple[LogicalType, ...], engine_version: str) -> Found:
    for each in references(node, inputs):
        if isinstance(each, Column):
            if not (0 <= each.index < len(each.scope.columns) or (each.none and each.index == -1)):
                yield dotted(each.path), _absent(each.index, each)
            continue
        message = _part(each, engine_version)
        if message is not None:
            yield dotted(each.path), message


def _absent(index: int, place: Column | Part) -> str:
    return f"column {index} is none of {place.scope.name}, which has {counted(len(place.scope.columns), 'column')}"


def _part(part: Part, engine_version: str) -> str | None:
    match part.expression:
        case InputRef() as reference:
            if not 0 <= reference.input_index < len(part.scope.columns):
                return _absent(reference.input_index, part)
            column = part.scope.columns[reference.input_index]
            if _stands_for(column.type, reference.type):
                return None
            return f"the type is {reference.type}, but column {column.name} of {part.scope.name} is {column.type}"
        case FieldAccess() as access:
            return _field(access)
        case Call() as call if not call.user_name:
            return _call(call, engine_version)
        case _:
            # A literal was read by its own type; a function of the user is asked when it is loaded.
            return None


def _field(access: FieldAccess) -> str | None:
    whole = access.expr.type
    found = [each.type for each in whole.fields if each.name == access.name]
    if not found:
        return f"{whole} has no field {access.name}"
    # Of a ROW that may be NULL, fields may be NULL too; plans do not say so everywhere.
    if any(each.same_values(access.type) for each in found):
        return None
    return f"the type is {access.type}, but field {access.name} is {found[0]}"


def _call(call: Call, engine_version: str) -> str | None:
    """The function's own rules run again: they must take the operands as they are and give the type."""
    function = find(call.internal_name, engine_version)
    try:
        binding = function.bind(Invocation(function.name, call.operands, None, call.type))
    except SqlError as error:
        return error.message
    types = ", ".join(str(each.type) for each in call.operands)
    if binding is None or not _taken(binding.operands, call.operands):
        return f"{function.name} does not take ({types}); it takes {'; '.join(function.signatures)}"
    narrowed = function.name in _NARROWED and call.type.root in INTEGERS and binding.type.root in INTEGERS
    if not narrowed and not _stands_for(binding.type, call.type):
        return f"the type is {call.type}, but {function.name}({types}) gives {binding.type}"
    return None


def _taken(bound: Sequence[Expression], given: Sequence[Expression]) -> bool:
    """Whether a function takes operands as they are; up to 1.2, NULLIF gave time attributes to CASE without a CAST."""
    return len(bound) == len(given) and all(
        one == other or (other.type.is_time_attribute and isinstance(one, Call) and one.operands == (other,))
        for one, other in zip(bound, given, strict=True)
    )


def _stands_for(made: LogicalType, said: LogicalType) -> bool:
    """Whether values of `made` may be called values of `said`."""
    return made.same_values(said) and (said.nullable or not made.nullable)


def _calls(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Found:
    for call in node.applied(inputs):
        # What a function of the user takes is asked when it is loaded.
        message = _applied(call) if call.name else None
        if message is not None:
            yield call.path, message
        for key, value in call.options.items():
            if key not in (aggregates.SEPARATOR, aggregates.PERCENTAGE) or not isinstance(value, str):
                yield f"{call.path}.options", f"{key!r} with {value!r} is no option of {call.title}"


def _applied(call: Applied) -> str | None:
    if call.rows == "frame so far" and call.name in ("$LEAD$1", "$NTILE$1"):
        return f"{call.title} needs rows that have not come yet"
    if call.rows in ("frame", "frame so far"):
        return _over(call)
    return _aggregate(call, [each.type for each in call.operands])


def _aggregate(call: Applied, types: Sequence[LogicalType]) -> str | None:
    name, grouped = _name(call), call.rows != "all"
    try:
        _, made = aggregates.resolve(
            name, tuple(types), distinct=call.distinct, grouped=grouped, filtered=call.filtered
        )
    except SqlError as error:
        return error.message
    if _stands_for(made, call.type):
        return None
    return f"the type is {call.type}, but {name}({', '.join(map(str, types))}) gives {made}"


def _over(call: Applied) -> str | None:
    name, operands, said = _name(call), call.operands, call.type
    if name in _RANKS:
        fits = not operands and said.same_values(_RANKS[name])
    elif name == "NTILE":
        counts = [each.value for each in operands if isinstance(each, Literal) and isinstance(each.value, int)]
        fits = len(operands) == len(counts) == 1 and counts[0] > 0 and said.same_values(BIGINT)
    elif name in ("LAG", "LEAD"):
        first, *rest = operands or (None,)
        fits = isinstance(first, InputRef) and first.type.same_values(said) and len(rest) <= 2
        fits = fits and all(isinstance(each, Literal) for each in rest)
        fits = fits and all(isinstance(each, Literal) and isinstance(each.value, int) for each in rest[:1])
    else:
        columns = [each.type for each in operands if isinstance(each, InputRef)]
        return _aggregate(call, columns) if len(columns) == len(operands) else f"{name} takes columns only"
    return None if fits else f"{name} does not take these operands, or does not give {said}"


def _name(call: Applied) -> str:
    return call.name[1:].rpartition("$")[0]


def _output(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Found:
    said = node.output_type.fields
    for what, made in node.outputs(inputs):
        if len(made) != len(said):
            yield "outputType", f"it has {counted(len(said), 'column')}, but {what} {len(made)}"
            continue
        for field, type in zip(said, made, strict=True):
            if not _stands_for(type, field.type):
                yield "outputType", f"column {field.name} is {field.type}, but {what} {type}"


def _read(table: TableReference, read: LogicalType, path: str) -> Found:
    """Columns of a table, as a node reads them."""
    if table.resolved_table is None:
        return
    columns = table.resolved_table.table_schema.columns
    stored = {each.name: each.data_type for each in columns if each.kind != "COMPUTED"}
    for field in read.fields:
        known = stored.get(field.name)
        # A plan declares what the table does, and reads microseconds of it.
        if known is None or not any(_stands_for(each, field.type) for each in (known, narrow_to_microseconds(known))):
            yield path, f"column {field.name} {field.type} is not one of table {table.name}"


def _tables(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Found:
    if isinstance(node, SourceNode):
        yield from _read(node.source, node.output_type, "outputType")
    if isinstance(node, LookupNode):
        table = node.temporal_table
        yield from _read(table.lookup_table_source.table, table.output_type, "temporalTable.outputType")
    if isinstance(node, SinkNode) and node.target.resolved_table is not None:
        writable = node.target.resolved_table.table_schema.writable
        for column, given in zip(writable, inputs[0].fields, strict=False):
            if not given.type.same_values(column.data_type):
                what = f"column {column.name} of {node.target.name} is {column.data_type}"
                yield "table", f"{what}, but gets {given.type}"
