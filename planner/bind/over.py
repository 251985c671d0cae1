"""Functions OVER a window of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from execnodes import aggregates
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef, Literal, Value
from execnodes.core.types import BIGINT, DOUBLE, INTEGERS, NUMERICS, LogicalType, Root
from execnodes.functions import cast, common_type, is_deterministic
from execnodes.user_functions.aggregate import AggregateDefinition
from planner import syntax as s
from planner.algebra import Logical, Over, OverCall, SortKey
from planner.bind.aggregate import constant_arguments, internal_function
from planner.bind.builder import Builder
from planner.bind.expression_binder import WINDOW_ONLY, walk
from planner.bind.folding import fold
from planner.bind.sorting import sort_key
from planner.bind.source import project, refs, row_of
from planner.bind.stage import Stage
from planner.bind.user_functions import bind_aggregate, find_aggregate
from planner.bind.written import locate
from planner.catalog.user_functions import FoundFunction

_RANKS = {"ROW_NUMBER": BIGINT, "RANK": BIGINT, "DENSE_RANK": BIGINT, "PERCENT_RANK": DOUBLE, "CUME_DIST": DOUBLE}
"""Functions without arguments, and their types."""


_FOLLOWING = "OVER RANGE FOLLOWING windows are not supported yet."


@dataclass(frozen=True)
class _Window:
    """What calls must share to be computed together."""

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    rows: bool
    preceding: int | None
    following: int | None = 0
    in_python: bool = False
    """Functions of the user in batch, which a node of their own computes."""


def build_over(builder: Builder, node: s.Select, order: tuple[s.OrderItem, ...], stage: Stage) -> Stage:
    """The stage with a column for each call OVER a window; one plan node for each different window."""
    exprs = [item.expr for item in node.items]
    exprs += [node.qualify] if node.qualify else []
    exprs += [item.expr for item in order]
    found = [each for expr in exprs for each in walk(expr) if isinstance(each, s.Call) and each.over is not None]
    if not found:
        return stage
    batch = builder.configuration.get_option("execution.runtime-mode") == "batch"
    calls = _Calls(stage, dict(node.windows), batch)
    for call in found:
        calls.add(call)
    return calls.build()


class _Calls:
    def __init__(self, stage: Stage, named: dict[str, s.WindowSpec], batch: bool) -> None:
        self._batch = batch
        self._stage = stage
        self._named = named
        self._converter = stage.clause("OVER")
        self._columns = refs(stage.plan.type)
        self._computed: list[tuple[s.Expr, InputRef]] = []
        """What is computed below the windows; a SELECT that says it again reads the column, and with it keeps a key."""
        self._windows: dict[_Window, list[tuple[s.Call, OverCall]]] = {}

    def add(self, node: s.Call) -> None:
        """Take a call in."""
        spec = self._specification(node)
        # A frame that the SQL gives may be empty. In streams they all have the current row.
        call = self._call(node, never_empty=not self._batch or spec.lower is None)
        window = replace(self._window(node, spec), in_python=self._batch and call.user is not None)
        members = self._windows.setdefault(window, [])
        members.append((node, call))

    def build(self) -> Stage:
        """The plan nodes, one above the other, and a converter that knows their columns."""
        plan, width = self._stage.plan, len(self._stage.plan.type.fields)
        names = [field.name for field in plan.type.fields]
        if len(self._columns) > width:
            extra = [f"$over{i}" for i in range(len(self._columns) - width)]
            plan = project(plan, self._columns, names + extra)
        results: dict[int, Expression] = {}
        for number, (window, members) in enumerate(self._windows.items()):
            plan = replace(_over(plan, number, window, members, results), select=self)
        before = self._converter.replace

        def known(node: s.Expr) -> Expression | None:
            computed = (column for each, column in self._computed if each == node)
            return results.get(id(node)) or next(computed, None) or before(node)

        self._converter.replace = known
        return Stage(plan, self._converter)

    def _specification(self, node: s.Call) -> s.WindowSpec:
        spec = node.over
        assert spec is not None
        if spec.base is None:
            return spec
        base = self._named.get(spec.base)
        if base is None:
            raise SqlError(f"window '{spec.base}' is not defined", position=spec.position, hint="Define it in WINDOW.")
        if base.base is not None:
            raise SqlError("a window defined by another is not supported", position=base.position)
        return replace(
            base,
            partition=spec.partition or base.partition,
            order=spec.order or base.order,
            rows=spec.rows or base.rows,
            lower=spec.lower or base.lower,
            upper=spec.upper or base.upper,
        )

    def _column(self, node: s.Expr) -> InputRef:
        column = self._column_of(self._converter.convert(node))
        expression = self._columns[column.input_index]
        if not isinstance(expression, InputRef) and is_deterministic(expression):
            self._computed.append((node, column))
        return column

    def _column_of(self, expression: Expression) -> InputRef:
        if expression not in self._columns:
            self._columns.append(expression)
        return InputRef(input_index=self._columns.index(expression), type=expression.type)

    def _window(self, node: s.Call, spec: s.WindowSpec) -> _Window:
        name = node.name.upper()
        if not spec.order and (name in WINDOW_ONLY or not self._batch):
            raise SqlError(
                f"{node.name} OVER needs ORDER BY",
                position=spec.position,
                hint="Order by a time attribute or a column.",
            )
        partition = tuple(self._column(each).input_index for each in spec.partition)
        columns = [self._column(item.expr) for item in spec.order]
        keys = tuple(sort_key(item, column) for item, column in zip(spec.order, columns, strict=True))
        if name == "ROW_NUMBER":
            return _Window(partition, keys, True, None)
        if self._batch:
            return self._frame(node, spec, partition, columns, keys)
        if name not in _RANKS and not keys[0].ascending:
            raise SqlError(
                "The window can only be ordered in ASCENDING mode.",
                position=spec.order[0].position,
                hint="Descending order is for ROW_NUMBER.",
            )
        preceding = self._preceding(spec)
        if name in WINDOW_ONLY and spec.lower is not None:
            raise SqlError(f"{name} takes no ROWS or RANGE", position=spec.lower.position, hint="Leave the frame out.")
        if preceding is not None and not columns[0].type.is_time_attribute:
            raise SqlError(
                "Non-time attribute sort is not supported for bounded OVER window.",
                position=spec.order[0].position,
                hint="Order by the column the WATERMARK is declared for.",
            )
        return _Window(partition, keys, spec.rows, preceding)

    def _frame(
        self,
        node: s.Call,
        spec: s.WindowSpec,
        partition: tuple[int, ...],
        columns: list[InputRef],
        keys: tuple[SortKey, ...],
    ) -> _Window:
        """In batch frames may lie anywhere; without order they are the whole partition."""
        if spec.lower is not None and node.name.upper() in WINDOW_ONLY:
            raise SqlError(f"{node.name} takes no ROWS or RANGE", position=spec.lower.position, hint="Leave it out.")
        t = columns[0].type if len(columns) == 1 else None
        start = self._offset(spec.lower, spec.rows, t)
        end = self._offset(spec.upper, spec.rows, t) if spec.upper is not None else 0
        if not keys and not spec.rows:
            end = None
        if start is not None and end is not None and start > end:
            raise SqlError("the frame ends before it begins", position=spec.lower.position if spec.lower else None)
        return _Window(partition, keys, spec.rows, None if start is None else -start, end)

    def _offset(self, bound: s.FrameBound | None, rows: bool, t: LogicalType | None) -> int | None:
        """How far behind the current row a bound lies; None if it is unbounded. `t`: of the only column of ORDER BY."""
        if bound is None:
            return None
        if bound.kind == "CURRENT ROW" or bound.value is None:
            return 0 if bound.kind == "CURRENT ROW" else None
        value = fold(self._converter.convert(bound.value))
        number = rows or (t is not None and t.root in NUMERICS)
        wanted = INTEGERS if number else (Root.INTERVAL_DAY_TIME,)
        if (not rows and t is None) or not isinstance(value, Literal) or value.type.root not in wanted:
            what = "a number of rows" if rows else "a number, or of times an interval, with one column in ORDER BY"
            raise SqlError(f"the frame's bound is {what}", position=bound.position)
        if int(str(value.value)) < 0:
            raise SqlError("the frame's bound is negative", position=bound.position)
        return int(str(value.value)) * (1 if bound.kind == "FOLLOWING" else -1)

    def _preceding(self, spec: s.WindowSpec) -> int | None:
        if spec.upper is not None and spec.upper.kind != "CURRENT ROW":
            raise SqlError(
                _FOLLOWING,
                position=spec.upper.position,
                hint="End the frame with CURRENT ROW.",
            )
        lower = spec.lower
        if lower is None or (lower.kind == "PRECEDING" and lower.value is None):
            return None
        if lower.kind == "FOLLOWING":
            raise SqlError(_FOLLOWING, position=lower.position, hint="Begin the frame with PRECEDING.")
        if lower.value is None:
            return 0
        value = fold(self._converter.convert(lower.value))
        wanted = INTEGERS if spec.rows else (Root.INTERVAL_DAY_TIME,)
        if not isinstance(value, Literal) or value.type.root not in wanted or int(str(value.value)) < 0:
            what = "a number of rows from 0" if spec.rows else "a positive interval such as INTERVAL '5' SECOND"
            raise SqlError(f"the frame's bound is {what}", position=lower.position)
        return int(str(value.value))

    def _call(self, node: s.Call, never_empty: bool) -> OverCall:
        name = node.name.upper()
        if node.filter is not None:
            raise SqlError("FILTER with OVER is not supported", position=node.position, hint="Write a CASE inside.")
        if name == "NTH_VALUE":
            raise SqlError(
                "NTH_VALUE is not supported", position=node.position, hint="Filter ROW_NUMBER() = n in a subquery."
            )
        if name == "SINGLE_VALUE":
            raise SqlError("SINGLE_VALUE with OVER is not supported", position=node.position, hint="Write MAX.")
        if name in ("LEAD", "NTILE") and not self._batch:
            raise SqlError(
                f"{name} Function is not supported in stream mode.",
                position=node.position,
                hint="It would need rows that have not come yet.",
            )
        if name in _RANKS:
            if node.args or node.star:
                raise SqlError(f"{name} takes no argument", position=node.position)
            return OverCall(name, f"${name}$1", (), _RANKS[name].not_null())
        user = find_aggregate(self._converter.catalog, node)
        if user is not None:
            return self._user_call(node, *user)
        if name in ("LAG", "LEAD"):
            return self._lag(node)
        if name == "NTILE":
            return self._ntile(node)
        if not aggregates.is_aggregate(name):
            raise SqlError(f"{node.name} is no function with OVER", position=node.position)
        arguments, options = constant_arguments(node, name, [self._converter.convert(arg) for arg in node.args])
        name = internal_function(name, node, options)
        args = tuple(map(self._column_of, arguments))
        internal_name, type_ = aggregates.resolve(
            name,
            tuple(arg.type.regular() for arg in args),
            distinct=node.distinct,
            position=node.position,
            grouped=never_empty,
        )
        return OverCall(name, internal_name, args, type_, options | ({"distinct": True} if node.distinct else {}))

    def _user_call(self, node: s.Call, found: FoundFunction, definition: AggregateDefinition) -> OverCall:
        clause = "*" if node.star else "WITHIN GROUP" if node.order else None
        if clause:
            raise SqlError(f"{clause} in a call of {node.name} is not supported", position=node.position)
        if node.distinct and len(node.args) != 1:
            raise SqlError(
                f"{node.name}(DISTINCT …) OVER takes one argument",
                position=node.position,
                hint="Put the arguments into one, e.g. ROW(a, b), or keep duplicates out in the function.",
            )
        call, converted = bind_aggregate(found, definition, [self._converter.convert(arg) for arg in node.args], node)
        args = tuple(map(self._column_of, converted))
        options: dict[str, Value] = {"distinct": True} if node.distinct else {}
        return OverCall(call.title, "", args, call.type, options, call.put(locate(node)))

    def _ntile(self, node: s.Call) -> OverCall:
        count = fold(self._converter.convert(node.args[0])) if len(node.args) == 1 else None
        if not isinstance(count, Literal) or count.type.root not in INTEGERS or int(str(count.value)) < 1:
            raise SqlError("NTILE takes a constant number from 1", position=node.position)
        return OverCall("NTILE", "$NTILE$1", (count,), BIGINT.not_null())

    def _lag(self, node: s.Call) -> OverCall:
        name = node.name.upper()
        if not 1 <= len(node.args) <= 3:
            raise SqlError(f"{name} takes a value, an offset and a default", position=node.position)
        value = self._converter.convert(node.args[0])
        rest = [fold(self._converter.convert(arg)) for arg in node.args[1:]]
        if any(not isinstance(each, Literal) for each in rest):
            raise SqlError(f"offset and default of {name} are constants", position=node.position)
        if rest and not (rest[0].type.root in INTEGERS and _offset(rest[0]) >= 0):
            raise SqlError(f"the offset of {name} is a whole number from 0", position=node.args[1].position)
        type_ = self._lag_type(node, value.type, rest)
        rest[1:] = [_default(each, type_, node) for each in rest[1:]]
        column = self._column_of(_cast(value, type_.with_nullable(True)))
        return OverCall(name, f"${name}$1", (column, *rest), type_)

    def _lag_type(self, node: s.Call, value: LogicalType, rest: list[Expression]) -> LogicalType:
        if len(rest) < 2:
            return value.regular().with_nullable(True)
        found = common_type((value.regular(), rest[1].type))
        if found is None:
            raise SqlError(f"LAG of {value} with a default {rest[1].type}", position=node.position, hint="CAST it.")
        # As in Flink, whose rows then have a -1 where the value is NULL; here they have NULL, whatever the type says.
        return found.with_nullable(rest[1].type.nullable)


def _cast(value: Expression, type: LogicalType) -> Expression:
    return value if value.type.same_values(type) else cast(value, type, explicit=False)


def _default(literal: Expression, type: LogicalType, node: s.Call) -> Expression:
    """The default of LAG as a constant of its type."""
    found = fold(_cast(literal, type))
    if isinstance(found, Literal) or literal.type.root is type.root:
        return found if isinstance(found, Literal) else literal
    raise SqlError(f"the default of LAG is {literal.type}, not {type}", position=node.position, hint="CAST the value.")


def _offset(literal: Expression) -> int:
    return int(str(literal.value)) if isinstance(literal, Literal) and literal.value is not None else -1


def _over(
    plan: Logical,
    number: int,
    window: _Window,
    members: list[tuple[s.Call, OverCall]],
    results: dict[int, Expression],
) -> Over:
    distinct: list[OverCall] = []
    width = len(plan.type.fields)
    for node, call in members:
        if call not in distinct:
            distinct.append(call)
        results[id(node)] = InputRef(input_index=width + distinct.index(call), type=call.type)
    names = [field.name for field in plan.type.fields] + [f"w{number}$o{i}" for i in range(len(distinct))]
    types = [field.type for field in plan.type.fields] + [call.type for call in distinct]
    return Over(
        plan,
        window.partition,
        window.order,
        tuple(distinct),
        row_of(names, types),
        window.rows,
        window.preceding,
        window.following,
        members[0][0].position,
        locate(members[0][0]),
    )
