"""GROUP BY: keys, aggregate calls, grouping sets, and expressions over their results."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import prod

from execnodes import aggregates
from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import AggregateCall, Call, Expression, FieldAccess, InputRef, Literal, Value
from execnodes.core.places import place
from execnodes.core.types import BIGINT, NUMERICS, TEXTS, Field, LogicalType, Root
from execnodes.functions import resolve
from execnodes.user_functions.aggregate import AggregateDefinition
from planner import syntax as s
from planner.algebra import Aggregate, Logical
from planner.algebra.columns import unique_names
from planner.bind.builder import Builder
from planner.bind.expression_binder import GROUP_FUNCTIONS, Converter, Replace, is_aggregate, nothing, walk
from planner.bind.folding import fold
from planner.bind.group_windows import GroupWindows
from planner.bind.projected_columns import ProjectedColumns
from planner.bind.scope import Scope, fields_of
from planner.bind.source import Source, row_of
from planner.bind.user_functions import bind_aggregate, find_aggregate
from planner.bind.written import written
from planner.catalog.catalogs import Catalog
from planner.catalog.user_functions import FoundFunction
from planner.limits import check_sets

_JSON_SUFFIX = {"NULL": "NULL_ON_NULL", "ABSENT": "ABSENT_ON_NULL"}


def is_aggregated(node: s.Select, order: tuple[s.OrderItem, ...], catalog: Catalog) -> bool:
    """True for GROUP BY or an aggregate anywhere behind it."""
    parts = (each for expr in _above(node, order) for each in walk(expr))
    return node.group is not None or any(is_aggregate(each, catalog) for each in parts)


def _above(node: s.Select, order: tuple[s.OrderItem, ...]) -> list[s.Expr]:
    """Expressions that are evaluated over the groups."""
    found = [item.expr for item in node.items]
    found += [expr for expr in (node.having, node.qualify) if expr is not None]
    found += [key for _, window in node.windows for key in (*window.partition, *(o.expr for o in window.order))]
    return found + [item.expr for item in order]


def read_by_aggregates(node: s.Select, order: tuple[s.OrderItem, ...], catalog: Catalog) -> list[s.Expr]:
    """Arguments and filters of the aggregates."""
    calls = [each for expr in _above(node, order) for each in walk(expr) if isinstance(each, s.Call)]
    calls = [each for each in calls if is_aggregate(each, catalog)]
    return [expr for each in calls for expr in (*each.args, each.filter) if expr is not None]


def build_aggregate(
    builder: Builder,
    node: s.Select,
    order: tuple[s.OrderItem, ...],
    source: Source,
    ttl: str | None,
    subqueries: Replace = nothing,
) -> tuple[Logical, GroupConverter]:
    """The aggregate over a source, and the converter of what stands above it.

    `subqueries` gives the columns of the source that hold the values of those in arguments and filters.
    """
    windows = GroupWindows(builder, source, node.group or ())
    source = windows.source
    below = Converter(source.scope, builder.catalog, windows.replace, clause="GROUP BY")
    keys, sets = _keys(below, windows.keys(node.group or ()), node)
    columns = ProjectedColumns(source)
    grouping = tuple(columns.index(key, name) for key, name in keys.items())
    calls = _Calls(below, columns, grouping, keys, sets, subqueries)
    aliases = {id(item.expr): item.alias for item in node.items if item.alias}
    for expr in _above(node, order):
        for each in walk(expr):
            if isinstance(each, s.Call) and is_aggregate(each, builder.catalog) and id(each) not in calls.inner:
                calls.add(each, aliases.get(id(each)))
    optional = {key for key in grouping if sets and not all(key in one for one in (_indexes(sets, grouping, keys)))}
    types = [columns.type(i).with_nullable(columns.type(i).nullable or i in optional) for i in grouping]
    names = unique_names([columns.names[i] for i in grouping] + [call.name for call in calls.calls])
    named_calls = tuple(
        call.model_copy(update={"name": name}) for call, name in zip(calls.calls, names[len(grouping) :], strict=True)
    )
    plan = Aggregate(
        columns.project(),
        grouping,
        named_calls,
        row_of(names, types + [call.type for call in calls.calls]),
        tuple(_indexes(sets, grouping, keys)),
        ttl,
        node.position,
        frozenset(calls.merging),
    )
    key_types = dict(zip(keys, types, strict=True))
    return plan, GroupConverter(below, key_types, calls)


_Keys = dict[Expression, str]
"""Keys over the source and their names; an expression occurs once."""


def _keys(
    converter: Converter, group: tuple[s.Expr | s.GroupingSets, ...], node: s.Select
) -> tuple[_Keys, list[tuple[Expression, ...]]]:
    """Keys in the order they are written, and the grouping sets if there are any."""
    keys: _Keys = {}

    def key(expr: s.Expr) -> Expression:
        found = converter.convert(expr)
        if found.type.root is Root.NULL:
            raise SqlError("Illegal use of 'NULL' in GROUP BY", position=expr.position, hint="CAST it to a type.")
        keys.setdefault(found, expr.parts[-1] if isinstance(expr, s.Name) else "")
        return found

    choices: list[list[tuple[Expression, ...]]] = []
    for item in group:
        if isinstance(item, s.GroupingSets):
            choices.append([tuple(key(each) for each in one) for one in item.sets])
        else:
            choices.append([(key(item),)])
    if not any(isinstance(item, s.GroupingSets) for item in group):
        return keys, []
    check_sets(prod(map(len, choices)), len(keys), node.position)
    sets = [tuple(dict.fromkeys(each for part in parts for each in part)) for parts in product(*choices)]
    if len(set(map(frozenset, sets))) < len(sets):
        raise SqlError("the same grouping set twice is not supported", position=node.position, hint="Remove one.")
    # GROUP BY () is no GROUP BY.
    return keys, sets if keys else []


def _indexes(sets: list[tuple[Expression, ...]], grouping: tuple[int, ...], keys: _Keys) -> list[tuple[int, ...]]:
    """The grouping sets as columns of the aggregate's input."""
    places = dict(zip(keys, grouping, strict=True))
    return [tuple(sorted(places[key] for key in one)) for one in sets]


class _Calls:
    """Aggregate calls, each once."""

    def __init__(
        self,
        below: Converter,
        columns: ProjectedColumns,
        grouping: tuple[int, ...],
        keys: _Keys,
        sets: list[tuple[Expression, ...]],
        subqueries: Replace,
    ) -> None:
        self.calls: list[AggregateCall] = []
        self._places: dict[str, int] = {}
        self.results: dict[int, Expression] = {}
        """What stands for a call, by the id of its syntax."""
        self.merging: set[str] = set()
        """Functions of the user that can put accumulators together."""
        self.inner: set[int] = set()
        """Ids of what stands inside calls."""
        self._below, self._columns, self._grouping, self._keys, self._sets = below, columns, grouping, keys, sets
        self._subqueries = subqueries

    def add(self, node: s.Call, alias: str | None) -> None:
        """Take a call in."""
        self.inner |= {id(each) for each in walk(node)} - {id(node)}
        name = node.name.upper()
        if name in GROUP_FUNCTIONS and (name == "GROUP_ID" or not self._sets):
            self.results[id(node)] = Literal(value=0, type=BIGINT.not_null())
            return
        call = self._grouping_call(node, name) if name in GROUP_FUNCTIONS else self._call(node, name)
        index = self._places.setdefault(call.model_dump_json(exclude={"name"}), len(self.calls))
        if index == len(self.calls):
            self.calls.append(call.model_copy(update={"name": alias or f"EXPR${index}"}))
        self.results[id(node)] = InputRef(input_index=len(self._grouping) + index, type=call.type)

    def _grouping_call(self, node: s.Call, name: str) -> AggregateCall:
        arguments = []
        for arg in node.args:
            key = self._below.convert(arg)
            if key not in self._keys:
                raise SqlError(f"the argument of {name} is no key of GROUP BY", position=arg.position)
            arguments.append(self._columns.index(key))
        if not arguments:
            raise SqlError(f"{name} takes keys of GROUP BY", position=node.position)
        return AggregateCall(name="", internal_name=f"${name}$1", arg_list=tuple(arguments), type=BIGINT.not_null())

    def _call(self, node: s.Call, name: str) -> AggregateCall:
        user = find_aggregate(self._below.catalog, node)
        if user is not None:
            return self._user_call(node, *user)
        if node.star and name != "COUNT":
            raise SqlError(f"{name}(*) does not exist", position=node.position, hint="Only COUNT takes *.")
        if node.order:
            raise SqlError(
                "WITHIN GROUP is not supported", position=node.position, hint="Values come in the order they arrive."
            )
        arguments, options = self._arguments(node, name)
        where = self._filter(node)
        internal_name, type_ = aggregates.resolve(
            internal_function(name, node, options),
            tuple(each.type for each in arguments),
            distinct=node.distinct,
            position=node.position,
            grouped=bool(self._grouping) and () not in self._sets,
            filtered=node.filter is not None,
        )
        call = AggregateCall(
            name="",
            internal_name=internal_name,
            arg_list=tuple(self._columns.index(each) for each in arguments),
            filter_arg=where,
            distinct=node.distinct,
            type=type_,
            options=options,
        )
        at = place(node.position.line, node.position.column, written(node))
        return call.put(at) if aggregates.can_fail(internal_name) else call

    def _user_call(self, node: s.Call, found: FoundFunction, definition: AggregateDefinition) -> AggregateCall:
        clause = "*" if node.star else "WITHIN GROUP" if node.order else None
        if clause:
            raise SqlError(f"{clause} in a call of {node.name} is not supported", position=node.position)
        arguments = [self._clause(f"an argument of {node.name}").convert(arg) for arg in node.args]
        call, converted = bind_aggregate(found, definition, arguments, node)
        if definition.mergeable:
            self.merging.add(call.user_name)
        columns = tuple(self._columns.index(each) for each in converted)
        call = call.model_copy(update={"arg_list": columns, "filter_arg": self._filter(node)})
        return call.put(place(node.position.line, node.position.column, written(node)))

    def _filter(self, node: s.Call) -> int:
        """The column that FILTER asks for; -1 without it."""
        return -1 if node.filter is None else self._columns.index(self._clause("FILTER").condition(node.filter))

    def _arguments(self, node: s.Call, name: str) -> tuple[list[Expression], dict[str, Value]]:
        return constant_arguments(
            node, name, [self._clause(f"an argument of {name}").convert(arg) for arg in node.args]
        )

    def _clause(self, clause: str) -> Converter:
        return Converter(self._below.scope, self._below.catalog, self._replace, clause)

    def _replace(self, node: s.Expr) -> Expression | None:
        return self._subqueries(node) or self._below.replace(node)


def constant_arguments(
    node: s.Call, name: str, arguments: list[Expression]
) -> tuple[list[Expression], dict[str, Value]]:
    """The arguments that are columns, and as options those that must be constants; values of JSON are JSON texts."""
    for arg, argument in zip(node.args, arguments, strict=True):
        if argument.type.root is Root.NULL:
            raise SqlError(f"Illegal use of 'NULL' in {name}", position=arg.position, hint="CAST it to a type.")
    if name == "LISTAGG" and len(arguments) == 2:
        separator = fold(arguments.pop())
        if not isinstance(separator, Literal) or separator.type.root not in TEXTS:
            raise SqlError("the separator of LISTAGG is a constant text", position=node.args[1].position)
        return arguments, {aggregates.SEPARATOR: separator.value}
    if name == "PERCENTILE":
        if len(arguments) not in (2, 3):
            hint = "Write PERCENTILE(value, 0.5), or PERCENTILE(value, 0.5, frequency)."
            raise SqlError("PERCENTILE takes a value and a percentage", position=node.position, hint=hint)
        return [arguments[0], *arguments[2:]], {
            aggregates.PERCENTAGE: _percentage(fold(arguments[1]), node.args[1].position)
        }
    if name in ("JSON_OBJECTAGG", "JSON_ARRAYAGG"):
        arguments[-1] = resolve("JSON_STRING", (arguments[-1],), position=node.position)
    return arguments, {}


def _percentage(argument: Expression, position: Position) -> str:
    """JSON of a constant number from 0 to 1, or of an array of such."""
    several = isinstance(argument, Call) and argument.internal_name.startswith("$ARRAY$")
    members = [fold(each) for each in argument.operands] if several and isinstance(argument, Call) else [argument]
    numbers = [
        float(str(each.value))
        for each in members
        if isinstance(each, Literal) and each.type.root in NUMERICS and each.value is not None
    ]
    if not members or len(numbers) < len(members) or not all(0 <= each <= 1 for each in numbers):
        raise SqlError("the percentage of PERCENTILE is a constant from 0 to 1, or an array of such", position=position)
    return json.dumps(numbers if several else numbers[0])


def internal_function(name: str, node: s.Call, options: dict[str, Value]) -> str:
    """The function that a name and its options stand for."""
    if name == "PERCENTILE" and str(options[aggregates.PERCENTAGE]).startswith("["):
        return "PERCENTILE_ARRAY"
    for key, value in node.options:
        name = f"{name}_{_JSON_SUFFIX[value]}" if key == "onNull" else name
    return name


class GroupConverter(Converter):
    """Converts what stands above an aggregate: keys and calls become its columns."""

    def __init__(self, below: Converter, keys: dict[Expression, LogicalType], calls: _Calls) -> None:
        """`keys` are expressions over the aggregate's input with the types of the results."""
        super().__init__(below.scope, below.catalog, clause="SELECT")
        self._below = below
        self._keys = {key: InputRef(input_index=index, type=type_) for index, (key, type_) in enumerate(keys.items())}
        self._plain = all(isinstance(key, InputRef) for key in self._keys)
        self._calls = calls

    def key_scope(self) -> Scope:
        """The keys that are columns, by the names that these have below."""
        relations = []
        for each in self.scope.relations:
            columns = zip(each.fields, each.indexes, strict=True)
            found = [(field, self._keys.get(InputRef(input_index=at, type=field.type))) for field, at in columns]
            kept = [(Field(field.name, key.type), key.input_index) for field, key in found if key is not None]
            fields, indexes = tuple(field for field, _ in kept), tuple(index for _, index in kept)
            relations.append(replace(each, fields=fields, indexes=indexes))
        return Scope(tuple(relations))

    def _convert(self, node: s.Expr) -> Expression:
        """The expression over keys and results; SqlError for a column that is neither."""
        result = self._calls.results.get(id(node)) or self.replace(node)
        if result is not None:
            return result
        window = self._below.replace(node)
        if window is not None and (window in self._keys or not isinstance(window, InputRef)):
            return self._keys.get(window, window)
        if isinstance(node, s.Name) or self._may_be_key(node):
            found = self._below.convert(node)
            if found in self._keys:
                return self._keys[found]
            if isinstance(node, s.Name):
                return self._column(found, node)
        return super()._convert(node)

    def column(self, column: InputRef, node: s.Name) -> Expression:
        """A column of the aggregate's input that * stands for."""
        return self._keys[column] if column in self._keys else self._column(column, node)

    def _column(self, found: Expression, node: s.Name) -> Expression:
        base, path = found, tuple[str, ...]()
        while base not in self._keys and isinstance(base, FieldAccess):
            path = (base.name, *path)
            base = base.expr
        if base in self._keys:
            return fields_of(self._keys[base], path, node)
        raise SqlError(
            f"Expression '{'.'.join(node.parts)}' is not being grouped",
            position=node.position,
            hint="Add it to GROUP BY or put it in an aggregate such as MAX.",
        )

    def _may_be_key(self, node: s.Expr) -> bool:
        if self._plain or not isinstance(node, s.Call | s.Access | s.Constant):
            return False
        return not any(
            is_aggregate(each, self.catalog) or (isinstance(each, s.Call) and each.over) for each in walk(node)
        )
