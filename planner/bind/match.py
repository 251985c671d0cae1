"""MATCH_RECOGNIZE over the rows of a source.

Below the match a projection has the columns that are read, and what can be computed of a single row; above it another
one has what is computed of the values that the match gives.
"""

from __future__ import annotations

from collections.abc import Iterable

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef, Literal, input_indexes, remap
from execnodes.core.match_spec import AfterMatch, MatchSpec, RowReference
from execnodes.core.places import place
from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import Root, TimeKind
from planner import syntax as s
from planner.algebra.columns import unique_names
from planner.algebra.match import Match
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter
from planner.bind.folding import fold
from planner.bind.match_patterns import build_pattern, check_target
from planner.bind.match_references import MatchReader, MatchShape
from planner.bind.projected_columns import ProjectedColumns
from planner.bind.scope import Scope, find_repeated
from planner.bind.source import Source, aliased, project, row_of


def build_match(builder: Builder, node: s.MatchRecognize, source: Source) -> Source:
    """The matches among the rows of a source: keys, then measures."""
    columns = ProjectedColumns(source)
    keys = tuple(columns.index(_column(source.scope, each, "PARTITION BY")) for each in node.partition)
    order = _order(source.scope, node, columns)
    pattern = build_pattern(node.pattern)
    check_target(node, pattern)
    defined = [each.variable for each in node.definitions]
    repeated = find_repeated(defined)
    if repeated is not None:
        raise SqlError(f"DEFINE has {repeated} twice", position=node.position)
    shape = MatchShape(pattern, order.fields[0].index, frozenset(defined))
    definitions, measures = (MatchReader(source, builder.catalog, columns, shape) for _ in range(2))
    found = [definitions.definition(each) for each in node.definitions]
    given = [measures.measure(each) for each in node.measures]
    names = [*(columns.names[key] for key in keys), *(each.alias or "" for each in node.measures)]
    repeated = find_repeated(names)
    if repeated is not None:
        raise SqlError(
            f"Columns ambiguously defined: {{{repeated}}}",
            position=node.position,
            hint="MATCH_RECOGNIZE gives the columns of PARTITION BY, then the measures: name them apart.",
        )
    spec, read = _narrowed(
        MatchSpec(
            partition=keys,
            order_by=order,
            pattern=pattern,
            references=tuple(definitions.references),
            definitions=tuple(found),
            measures=tuple(measures.references),
            after=AfterMatch(skip=node.skip, variable=node.skip_variable.parts[0] if node.skip_variable else ""),
            within=_within(builder, node),
        ),
        columns,
    )
    types = [*(columns.type(key) for key in keys), *(each.type for each in spec.measures)]
    aliases = zip(given, names[len(keys) :], strict=True)
    called = {each.input_index: alias for each, alias in aliases if isinstance(each, InputRef)}
    own = (called.get(at, f"$m{at}") for at in range(len(spec.measures)))
    shown = unique_names([*(columns.names[key] for key in keys), *own])
    at = place(node.position.line, node.position.column, "MATCH_RECOGNIZE")
    plan = Match(columns.project(read), spec, row_of(shown, types), node.position, at)
    outer: list[Expression] = [InputRef(input_index=at, type=types[at]) for at in range(len(keys))]
    outer += [remap(each, lambda index: index + len(keys)) for each in given]
    return aliased(project(plan, outer, names), node.alias, node.position)


def _narrowed(spec: MatchSpec, below: ProjectedColumns) -> tuple[MatchSpec, list[int]]:
    """The same without definitions and references that nobody asks for, over the columns that it still reads: those of
    the input in its order, then what is computed.
    """
    names = {each.name for each in spec.pattern}
    definitions = [each for each in spec.definitions if each.variable in names]
    asked = sorted({at for each in definitions for at in input_indexes(each.condition)})
    references = [spec.references[at] for at in asked]
    order = spec.order_by.fields
    read = {at for each in (*references, *spec.measures) for at in each.arg_list}
    columns = sorted(read.union(spec.partition, (each.index for each in order)), key=below.place)

    def moved(found: Iterable[RowReference]) -> tuple[RowReference, ...]:
        places = (tuple(map(columns.index, each.arg_list)) for each in found)
        return tuple(each.model_copy(update={"arg_list": at}) for each, at in zip(found, places, strict=True))

    fields = tuple(each.model_copy(update={"index": columns.index(each.index)}) for each in order)
    conditions = (each.model_copy(update={"condition": remap(each.condition, asked.index)}) for each in definitions)
    changed = {
        "partition": tuple(map(columns.index, spec.partition)),
        "order_by": SortSpec(fields=fields),
        "references": moved(references),
        "definitions": tuple(conditions),
        "measures": moved(spec.measures),
    }
    return spec.model_copy(update=changed), columns


def _column(scope: Scope, node: s.Expr, clause: str) -> InputRef:
    found = scope.resolve(node) if isinstance(node, s.Name) else None
    if not isinstance(found, InputRef):
        raise SqlError(
            f"{clause} of MATCH_RECOGNIZE takes columns", position=node.position, hint="Compute it in a subquery."
        )
    return found


def _order(scope: Scope, node: s.MatchRecognize, columns: ProjectedColumns) -> SortSpec:
    if not node.order:
        hint = "Order by the column of the WATERMARK first."
        raise SqlError("MATCH_RECOGNIZE needs ORDER BY a time attribute", position=node.position, hint=hint)
    found = [(item, _column(scope, item.expr, "ORDER BY")) for item in node.order]
    first, time = found[0]
    if time.type.kind is TimeKind.PROCTIME:
        raise SqlError(
            "MATCH_RECOGNIZE by processing time is not supported",
            position=first.position,
            hint="Order by a column with a WATERMARK.",
        )
    if not time.type.is_time_attribute:
        raise SqlError(
            "You must specify either rowtime or proctime for order by as the first one.",
            position=first.position,
            hint="Order by the column of the WATERMARK first; functions and casts make it a plain timestamp.",
        )
    if not first.ascending:
        raise SqlError(
            "Primary sort order of a streaming table must be ascending on time.",
            position=first.position,
            hint="Leave DESC out; columns behind the time may have it.",
        )
    fields = (
        SortField(
            index=columns.index(column),
            is_ascending=item.ascending,
            null_is_last=item.nulls_last if item.nulls_last is not None else not item.ascending,
        )
        for item, column in found
    )
    return SortSpec(fields=tuple(fields))


def _within(builder: Builder, node: s.MatchRecognize) -> int | None:
    if node.within is None:
        return None
    found = fold(Converter(Scope(()), builder.catalog, clause="WITHIN").convert(node.within))
    millis = found.value if isinstance(found, Literal) and found.type.root is Root.INTERVAL_DAY_TIME else None
    if not isinstance(millis, int):
        raise SqlError(
            "Only constant intervals with millisecond resolution are supported as time constraints of patterns.",
            position=node.within.position,
            hint="Write e.g. WITHIN INTERVAL '10' SECOND.",
        )
    if millis <= 0:
        raise SqlError("WITHIN takes an interval that is longer than nothing", position=node.within.position)
    return millis
