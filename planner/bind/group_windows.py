"""The group windows of old, TUMBLE(ts, size) in GROUP BY, rewritten to window table functions."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef
from execnodes.core.options import parse_duration
from execnodes.core.types import TimeKind
from planner import syntax as s
from planner.algebra import Logical
from planner.algebra.windows import Emission
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter
from planner.bind.source import Source, project, refs
from planner.bind.windows import PARAMETERS, attach, interval_millis, make_window, time_attribute

_AUXILIARY = {"START": 0, "END": 1, "ROWTIME": 2, "PROCTIME": 2}
_TIMES = ("ROWTIME", "PROCTIME")
_LENGTHS = {"TUMBLE": ("SIZE",), "HOP": ("SLIDE", "SIZE"), "SESSION": ("GAP",)}


class GroupWindows:
    """The group window of one GROUP BY, if there is one: its source, its keys, and its auxiliary functions."""

    def __init__(self, builder: Builder, source: Source, group: tuple[s.Expr | s.GroupingSets, ...]) -> None:
        """SqlError for two windows or one that cannot be."""
        self.source = source
        self._builder = builder
        self._call: s.Call | None = None
        self._columns: tuple[InputRef, ...] = ()
        self._clock: Expression | None = None
        """PROCTIME(), beside a window."""
        self._keys: list[tuple[s.Expr, InputRef]] = []
        """Keys of a session that are computed below it, and where they are."""
        found = [item for item in group if isinstance(item, s.Call) and item.name.upper() in _LENGTHS]
        _refuse_in_sets(group)
        if not found:
            return
        if len(found) > 1:
            raise SqlError("GROUP BY takes one window", position=found[1].position)
        self._call = found[0]
        keys = [item for item in group if item is not self._call]
        self._attach(builder, found[0], keys)

    def _attach(self, builder: Builder, call: s.Call, keys: list[s.Expr | s.GroupingSets]) -> None:
        name = call.name.upper()
        parameters = _LENGTHS[name]
        if len(call.args) != len(parameters) + 1:
            raise SqlError(
                f"{name} in GROUP BY takes a time attribute and {' and '.join(parameters).lower()}",
                position=call.position,
                hint=f"Or use TABLE({name}(TABLE t, {', '.join(PARAMETERS[name][1:])})).",
            )
        converter = Converter(self.source.scope, builder.catalog, clause="GROUP BY")
        self._clock = converter.convert(replace(call, name="PROCTIME", args=()))
        time = self._time(converter, call.args[0])
        lengths = {p: interval_millis(converter, arg) for p, arg in zip(parameters, call.args[1:], strict=True)}
        plan, partition = self.source.logical, tuple[int, ...]()
        if name == "SESSION":
            plan, partition = self._partition(converter, keys)
        emission = _emission(builder, name, call)
        window = replace(make_window(name, lengths, partition, call.position), emission=emission)
        attached = attach(plan, window, time, call.position)
        width = len(plan.type.fields)
        start, end, rowtime = (attached.type.fields[width + i].type for i in range(3))
        types = (start, end, rowtime.with_nullable(True))
        self._columns = tuple(InputRef(input_index=width + i, type=t) for i, t in enumerate(types))
        self.source = self.source.on(attached)

    def _time(self, converter: Converter, node: s.Expr) -> InputRef:
        """The column of a window's time; TUMBLE(PROCTIME(), …) gets one."""
        if not isinstance(node, s.Call) or converter.convert(node) != self._clock:
            return time_attribute(self._builder, self.source.scope, node)
        plan, clock = self.source.logical, converter.convert(node)
        names = [*(field.name for field in plan.type.fields), "$proctime"]
        self.source = self.source.on(project(plan, [*refs(plan.type), clock], names))
        return InputRef(input_index=len(names) - 1, type=clock.type)

    def _partition(self, converter: Converter, keys: list[s.Expr | s.GroupingSets]) -> tuple[Logical, tuple[int, ...]]:
        expressions, partition = refs(self.source.logical.type), []
        for key in keys:
            if isinstance(key, s.GroupingSets):
                raise SqlError(
                    "SESSION beside GROUPING SETS is not supported",
                    position=key.position,
                    hint="Use TABLE(SESSION(TABLE t, …)), whose window_start and window_end may stand beside them.",
                )
            expression = converter.convert(key)
            if expression not in expressions:
                expressions.append(expression)
            partition.append(expressions.index(expression))
            if not isinstance(expression, InputRef):
                self._keys.append((key, InputRef(input_index=partition[-1], type=expression.type)))
        plan = self.source.logical
        if len(expressions) > len(plan.type.fields):
            names = [field.name for field in plan.type.fields]
            plan = project(plan, expressions, names + [f"$f{i}" for i in range(len(expressions) - len(names))])
        return plan, tuple(partition)

    def keys(self, group: tuple[s.Expr | s.GroupingSets, ...]) -> tuple[s.Expr | s.GroupingSets, ...]:
        """GROUP BY with the window's columns in place of the window."""
        if self._call is None:
            return group
        call = self._call
        time = "PROCTIME" if self._columns[-1].type.kind is TimeKind.PROCTIME else "ROWTIME"
        bounds = tuple(replace(call, name=f"{call.name.upper()}_{each}") for each in ("START", "END", time))
        return tuple(each for item in group for each in (bounds if item is call else (item,)))

    def replace(self, node: s.Expr) -> Expression | None:
        """The column of TUMBLE_START(…) or its like, or of a session's key; SqlError if it is of another window."""
        for key, column in self._keys:
            if node == key:
                return column
        if not isinstance(node, s.Call):
            return None
        name, _, auxiliary = node.name.upper().partition("_")
        if name not in _LENGTHS or auxiliary not in _AUXILIARY:
            return None
        if self._call is None or node.args != self._call.args or name != self._call.name.upper():
            raise SqlError(
                f"{node.name} is of no window in GROUP BY", position=node.position, hint=f"Group by {name}(…) alike."
            )
        column = self._columns[_AUXILIARY[auxiliary]]
        clocked = column.type.kind is TimeKind.PROCTIME
        if auxiliary not in _TIMES or clocked is (auxiliary == "PROCTIME"):
            return column
        if auxiliary == "PROCTIME":
            return self._clock
        raise SqlError(
            f"{node.name} is the event time of a window, but this one goes by processing time",
            position=node.position,
            hint=f"Use {name}_PROCTIME, {name}_START or {name}_END.",
        )


def _refuse_in_sets(group: tuple[s.Expr | s.GroupingSets, ...]) -> None:
    """A window is of all sets or of none."""
    members = (each for item in group if isinstance(item, s.GroupingSets) for each in item.sets)
    for each in (expression for member in members for expression in member):
        if isinstance(each, s.Call) and each.name.upper() in _LENGTHS:
            name = each.name.upper()
            raise SqlError(
                f"{name} in GROUPING SETS, CUBE or ROLLUP is not supported",
                position=each.position,
                hint=f"Write it beside them: GROUP BY {name}(…), GROUPING SETS (…); or use TABLE({name}(TABLE t, …)).",
            )


def _emission(builder: Builder, name: str, call: s.Call) -> Emission:
    """What the options say of windows of old; SqlError where Flink has one.

    Batch mode gives every window once. An allowed lateness is not for sessions, which Flink does not say.
    """
    options = builder.configuration
    if options.get_option("execution.runtime-mode") == "batch":
        return Emission()
    early, late = (options.flag(f"table.exec.emit.{each}-fire.enabled") for each in ("early", "late"))
    lateness = parse_duration(options.get_option("table.exec.emit.allow-lateness"))
    if name == "SESSION":
        if early or late:
            raise SqlError(
                "SESSION windows are given once, when they end: early and late fire are not supported for them",
                position=call.position,
                hint="RESET the options table.exec.emit.early-fire.enabled and table.exec.emit.late-fire.enabled.",
            )
        return Emission()
    if late and not lateness:
        raise SqlError(
            "late fire needs an allowed lateness",
            position=call.position,
            hint="SET 'table.exec.emit.allow-lateness' to a positive duration.",
        )
    return Emission(early, lateness)
