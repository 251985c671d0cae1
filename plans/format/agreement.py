"""Whether a plan agrees with itself: every index names a column, every type is that of what it stands for.

A plan that was changed by hand can say that column 3 is an INT where the input has a text there, or count columns from
the end. Nothing that runs looks again, so everything is compared when a plan is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic.alias_generators import to_camel

from execnodes import aggregates
from execnodes.core.constants import constant
from execnodes.core.errors import PlanError, SqlError
from execnodes.core.expressions import AggregateCall, Call, Expression, FieldAccess, InputRef, Literal, Value
from execnodes.core.node import ExecNode
from execnodes.core.over_spec import OverSpec
from execnodes.core.types import BIGINT, DOUBLE, INTEGERS, LogicalType, Root
from execnodes.core.words import counted
from execnodes.functions.function import Invocation
from execnodes.functions.registry import find
from plans.format.produced import produced, tables
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
        found = [*_aggregates(node, inputs), *_output(node, inputs), *_constants(node), *_tables(node, inputs)]
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


def _aggregates(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Found:
    local = getattr(node, "local_agg_input_row_type", None)
    row = local if isinstance(local, LogicalType) else inputs[0] if inputs else None
    for at, call in enumerate(getattr(node, "agg_calls", ())):
        if not isinstance(call, AggregateCall) or row is None or call.user_name:
            continue
        types = tuple(row.fields[each].type for each in call.arg_list)
        grouped = bool(getattr(node, "grouping", ())) or hasattr(node, "windowing")
        message = _aggregate(call.internal_name, types, call.type, call.distinct, grouped, call.filter_arg >= 0)
        if message is not None:
            yield f"aggCalls[{at}]", message
        yield from _options(f"aggCalls[{at}]", call)
    spec = getattr(node, "over_spec", None)
    if isinstance(spec, OverSpec) and row is not None and spec.original_input_fields == len(row.fields):
        for number, group in enumerate(spec.groups):
            for at, each in enumerate(group.agg_calls):
                path = f"overSpec.groups[{number}].aggCalls[{at}]"
                yield from _over_call(path, each, spec.operands(each, row))
    for at, call in enumerate(getattr(node, "calls", ())):
        message = _over(call.internal_name, call.operands, call.type, call.distinct)
        if message is not None:
            yield f"calls[{at}]", message
        yield from _no_options(f"calls[{at}]", getattr(call, "options", {}), call.internal_name)


def _options(path: str, call: AggregateCall) -> Found:
    yield from _no_options(path, call.options, call.title)


def _no_options(path: str, options: Mapping[str, Value], title: str) -> Found:
    for key, value in options.items():
        if key not in (aggregates.SEPARATOR, aggregates.PERCENTAGE) or not isinstance(value, str):
            yield f"{path}.options", f"{key!r} with {value!r} is no option of {title}"


def _over_call(path: str, call: AggregateCall, operands: Sequence[Expression]) -> Found:
    if not call.user_name:
        message = _over(call.internal_name, operands, call.type, call.distinct)
        if call.internal_name in ("$LEAD$1", "$NTILE$1"):
            message = f"{call.title} needs rows that have not come yet"
        if message is not None:
            yield path, message
    yield from _options(path, call)


def _aggregate(
    internal_name: str, types: tuple[LogicalType, ...], said: LogicalType, distinct: bool, grouped: bool, filtered: bool
) -> str | None:
    name = internal_name[1:].rpartition("$")[0]
    try:
        _, made = aggregates.resolve(name, types, distinct=distinct, grouped=grouped, filtered=filtered)
    except SqlError as error:
        return error.message
    if _stands_for(made, said):
        return None
    return f"the type is {said}, but {name}({', '.join(map(str, types))}) gives {made}"


def _over(internal_name: str, operands: Sequence[object], said: LogicalType, distinct: bool) -> str | None:
    name = internal_name[1:].rpartition("$")[0]
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
        if len(columns) < len(operands):
            return f"{name} takes columns only"
        return _aggregate(internal_name, tuple(columns), said, distinct, True, False)
    return None if fits else f"{name} does not take these operands, or does not give {said}"


def _output(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Found:
    said = node.output_type.fields
    for what, made in produced(node, inputs):
        if len(made) != len(said):
            yield "outputType", f"it has {counted(len(said), 'column')}, but {what} {len(made)}"
            continue
        for field, type in zip(said, made, strict=True):
            if not _stands_for(type, field.type):
                yield "outputType", f"column {field.name} is {field.type}, but {what} {type}"


def _constants(node: ExecNode) -> Found:
    """Constant rows are written with the types of the columns."""
    for at, row in enumerate(getattr(node, "tuples", ())):
        if len(row) != len(node.output_type.fields):
            yield (
                f"tuples[{at}]",
                f"it has {counted(len(row), 'value')} for {counted(len(node.output_type.fields), 'column')}",
            )
            continue
        for literal, field in zip(row, node.output_type.fields, strict=True):
            # A literal is of its own type, or it could not have been read.
            if not literal.type.same_values(field.type):
                try:
                    constant(literal.value, field.type)
                except ValueError as error:
                    yield f"tuples[{at}]", f"column {field.name}: {error}"
                    continue
            if literal.value is None and not field.type.nullable:
                yield f"tuples[{at}]", f"column {field.name} is {field.type}, but a value is NULL"


def _tables(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Found:
    for name, table in tables(node):
        if table.resolved_table is None:
            continue
        schema = table.resolved_table.table_schema
        if name == "scan_table_source":
            columns = {each.name: each.data_type for each in schema.columns if each.kind != "COMPUTED"}
            for field in node.output_type.fields:
                known = columns.get(field.name)
                if known is None or not _stands_for(known, field.type):
                    yield "outputType", f"column {field.name} {field.type} is not one of table {table.name}"
            continue
        for column, given in zip(schema.writable, inputs[0].fields, strict=False):
            if not given.type.same_values(column.data_type):
                yield (
                    to_camel(name),
                    f"column {column.name} of {table.name} is {column.data_type}, but gets {given.type}",
                )
