"""GROUPING SETS, CUBE and ROLLUP: each row once for each set, with the keys it is rolled up over set to NULL."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from execnodes.core.expressions import AggregateCall, Call, Expression, InputRef, Literal
from execnodes.core.types import BIGINT, BOOLEAN, Field, LogicalType, row
from planner.algebra import Aggregate, Expand, Logical, Project, WindowAggregate
from planner.algebra.tree import Sinks, rewrite

EXPAND_ID = "$e"
_ID_TYPE = BIGINT.not_null()


def expand_grouping_sets(sinks: Sinks) -> Sinks:
    """Put an Expand below, add its id to the keys, and compute GROUPING() and GROUPING_ID() from the id."""
    return rewrite(sinks, _expand)


def _expand(node: Logical) -> Logical:
    if not isinstance(node, Aggregate | WindowAggregate) or not node.grouping_sets:
        return node
    keys, source = node.grouping, node.input.type.fields
    calls = [each for each in node.calls if not _is_grouping(each)]
    extra = (
        [] if isinstance(node, Aggregate) else [at for at in (node.time_index, *(node.bounds or ())) if at is not None]
    )
    used = sorted({at for call in calls for at in (*call.arg_list, call.filter_arg) if at >= 0} | set(extra))
    moved = {each: len(keys) + at for at, each in enumerate(used)}
    ids = _ids(keys, node.grouping_sets)
    projects = tuple(
        (
            *(_key(each, some, node) for each in keys),
            *(InputRef(input_index=each, type=source[each].type) for each in used),
            Literal(value=number, type=_ID_TYPE),
        )
        for number, some in zip(ids, node.grouping_sets, strict=True)
    )
    key_fields = [Field(source[each].name, _key_type(each, node)) for each in keys]
    id_field = Field(EXPAND_ID, _ID_TYPE)
    expanded = Expand(node.input, projects, row(*key_fields, *(source[each] for each in used), id_field))
    grouping = (*range(len(keys)), len(keys) + len(used))
    results = {call.name: at for at, call in enumerate(node.calls)}
    fields = node.type.fields
    behind = fields[len(keys) + len(node.calls) :]
    type = row(*fields[: len(keys)], id_field, *(fields[len(keys) + results[call.name]] for call in calls), *behind)
    made = _over(node, expanded, grouping, tuple(_moved(call, moved) for call in calls), type, moved)
    sets = list(zip(ids, node.grouping_sets, strict=True))
    columns: list[Expression] = [InputRef(input_index=at, type=fields[at].type) for at in range(len(keys))]
    place = len(keys) + 1
    for call in node.calls:
        if _is_grouping(call):
            columns.append(_grouping_value(call, sets, len(keys)))
        else:
            columns.append(InputRef(input_index=place, type=type.fields[place].type))
            place += 1
    columns += [InputRef(input_index=at, type=type.fields[at].type) for at in range(place, len(type.fields))]
    return Project(made, tuple(columns), node.type)


def _over(
    node: Aggregate | WindowAggregate, expanded: Expand, grouping: tuple[int, ...], calls: tuple[AggregateCall, ...],
    type: LogicalType, moved: dict[int, int],
) -> Logical:  # fmt: skip
    if isinstance(node, Aggregate):
        return replace(node, input=expanded, grouping=grouping, calls=calls, type=type, grouping_sets=())
    return replace(
        node,
        input=expanded,
        grouping=grouping,
        calls=calls,
        type=type,
        grouping_sets=(),
        time_index=None if node.time_index is None else moved[node.time_index],
        bounds=None if node.bounds is None else (moved[node.bounds[0]], moved[node.bounds[1]]),
    )


def _is_grouping(call: AggregateCall) -> bool:
    return call.internal_name.rpartition("$")[0] in ("$GROUPING", "$GROUPING_ID")


def _key_type(key: int, node: Aggregate | WindowAggregate) -> LogicalType:
    type = node.input.type.fields[key].type.regular()
    return type if all(key in some for some in node.grouping_sets) else type.with_nullable(True)


def _key(key: int, some: tuple[int, ...], node: Aggregate | WindowAggregate) -> Expression:
    if key in some:
        return InputRef(input_index=key, type=node.input.type.fields[key].type)
    return Literal(value=None, type=_key_type(key, node))


def _ids(keys: tuple[int, ...], sets: tuple[tuple[int, ...], ...]) -> list[int]:
    """One number a set: a bit for each key rolled up, the last key lowest; a set that comes again differs above."""
    seen: Counter[int] = Counter()
    ids = []
    for some in sets:
        mask = sum(1 << (len(keys) - 1 - at) for at, key in enumerate(keys) if key not in some)
        ids.append(mask + (seen[mask] << len(keys)))
        seen[mask] += 1
    return ids


def _moved(call: AggregateCall, moved: dict[int, int]) -> AggregateCall:
    filter_arg = moved[call.filter_arg] if call.filter_arg >= 0 else -1
    return call.model_copy(update={"arg_list": tuple(moved[at] for at in call.arg_list), "filter_arg": filter_arg})


def _grouping_value(call: AggregateCall, sets: list[tuple[int, tuple[int, ...]]], id_column: int) -> Expression:
    """GROUPING(a, b): a bit for each argument, 1 where it is rolled up, the last lowest; looked up by the expand id."""
    values = [sum(1 << at for at, arg in enumerate(reversed(call.arg_list)) if arg not in some) for _, some in sets]
    last = Literal(value=values[-1], type=call.type)
    if len(set(values)) == 1:
        return last
    operands: list[Expression] = []
    column = InputRef(input_index=id_column, type=_ID_TYPE)
    for (number, _), value in zip(sets[:-1], values[:-1], strict=True):
        equal = (column, Literal(value=number, type=_ID_TYPE))
        operands.append(Call(internal_name="$=$1", operands=equal, type=BOOLEAN.not_null()))
        operands.append(Literal(value=value, type=call.type))
    return Call(internal_name="$CASE$1", operands=(*operands, last), type=call.type)
