"""MATCH_RECOGNIZE: what of rows its conditions and measures read, and where that is computed.

Below the match a projection has the columns that are read, and what can be computed of a single row; above it another
one has what is computed of the values that the match gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from execnodes import aggregates
from execnodes.core.errors import SqlError
from execnodes.core.expressions import (
    Expression,
    FieldAccess,
    InputRef,
    Literal,
    input_indexes,
    remap,
    substitute,
    transform,
    walk,
)
from execnodes.core.match_spec import (
    ALL_ROWS,
    CONDITION_AGGREGATES,
    AfterMatch,
    Definition,
    MatchSpec,
    PatternVariable,
    RowReference,
)
from execnodes.core.predicates import supported
from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BOOLEAN, Root, TimeKind
from execnodes.functions import resolve
from planner import syntax as s
from planner.algebra.columns import unique_names
from planner.algebra.match import Match
from planner.bind.aggregate import constant_arguments, internal_function
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter, is_aggregate
from planner.bind.folding import fold
from planner.bind.projected_columns import ProjectedColumns
from planner.bind.scope import Scope, find_repeated
from planner.bind.source import Source, aliased, project, row_of
from planner.bind.user_functions import find_aggregate
from planner.bind.written import written
from planner.catalog.catalogs import Catalog

ROW_TIME, PROC_TIME = "MATCH_ROWTIME", "MATCH_PROCTIME"
_OTHERS = {
    "PREV": "Write LAST(variable.column, 1) for the row before the last one of a variable.",
    "NEXT": "Name the next row in the pattern.",
    "CLASSIFIER": "Read a column of each variable; it is NULL where the variable has no row.",
    "MATCH_NUMBER": "Number the matches behind it: ROW_NUMBER() OVER (…).",
}
_UNREAD = Literal(value=None, type=BOOLEAN)
"""Stands for a reference that an expression does not read."""
_IN_CONDITIONS = tuple(each.strip("$").split("$")[0] for each in CONDITION_AGGREGATES)


def build_match(builder: Builder, node: s.MatchRecognize, source: Source) -> Source:
    """The matches among the rows of a source: keys, then measures."""
    columns = ProjectedColumns(source)
    keys = tuple(columns.index(_column(source.scope, each, "PARTITION BY")) for each in node.partition)
    order = _order(source.scope, node, columns)
    pattern = _pattern(node.pattern)
    _check_target(node, pattern)
    defined = [each.variable for each in node.definitions]
    repeated = find_repeated(defined)
    if repeated is not None:
        raise SqlError(f"DEFINE has {repeated} twice", position=node.position)
    shape = _Shape(pattern, order.fields[0].index, frozenset(defined))
    definitions, measures = (_Reader(source, builder.catalog, columns, shape) for _ in range(2))
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
    plan = Match(columns.project(read), spec, row_of(shown, types), node.position)
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


def _pattern(variables: tuple[s.PatternVariable, ...]) -> tuple[PatternVariable, ...]:
    """The pattern; SqlError for one that Flink does not look for."""
    found: list[PatternVariable] = []
    for each in variables:
        where = each.position
        if any(before.name == each.name for before in found):
            raise SqlError(
                "Pattern variables must be unique. That might change in the future.",
                position=where,
                hint=f"Call the second {each.name} otherwise, and give it the same condition in DEFINE.",
            )
        if each.most is not None and (each.most == 0 or each.most < each.least):
            raise SqlError(f"{each.name} takes {each.least} to {each.most} rows", position=where)
        if (each.least, each.most) == (0, 1) and each.reluctant:
            raise SqlError("Reluctant optional variables are not supported yet.", position=where, hint="Write ?.")
        variable = PatternVariable(
            name=each.name,
            min_rows=each.least,
            max_rows=-1 if each.most is None else each.most,
            reluctant=each.reluctant and each.least != each.most,
        )
        if found and found[-1].greedy and not variable.min_rows:
            raise SqlError(
                "Optional pattern cannot be preceded by greedy pattern",
                position=where,
                hint=f"Make {found[-1].name} reluctant: {found[-1]}?.",
            )
        found.append(variable)
    if found[-1].greedy:
        raise SqlError(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either "
            "a simple variable or reluctant quantifier.",
            position=variables[-1].position,
        )
    if not any(each.min_rows for each in found):
        raise SqlError(
            "Patterns that can produce empty matches are not supported. There must be at least one non-optional state.",
            position=variables[0].position,
        )
    return tuple(found)


def _check_target(node: s.MatchRecognize, pattern: tuple[PatternVariable, ...]) -> None:
    target = node.skip_variable
    if target is None:
        return
    (name,) = target.parts
    if all(each.name != name for each in pattern):
        raise SqlError(f"Unknown pattern '{name}'", position=target.position, hint="Name a variable of the pattern.")
    first = pattern[0]
    if first.name == name and (node.skip == "TO FIRST" or (first.min_rows, first.max_rows) == (1, 1)):
        raise SqlError(
            f"SKIP {node.skip} {name} finds the same match again, which begins there",
            position=target.position,
            hint="Write SKIP TO NEXT ROW.",
        )


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


class _Reader(Converter):
    """Converts measures or definitions: what they read of rows becomes a column of `references`."""

    def __init__(self, source: Source, catalog: Catalog, columns: ProjectedColumns, spec: _Shape) -> None:
        super().__init__(source.scope, catalog, clause="MATCH_RECOGNIZE")
        self._columns, self._shape = columns, spec
        self._current: str | None = None
        """The variable that is being defined; None in measures."""
        self.references: list[RowReference] = []

    def measure(self, node: s.SelectItem) -> Expression:
        """An expression over the references."""
        return self.convert(node.expr)

    def definition(self, node: s.Definition) -> Definition:
        """What a row must be to become one of a variable: over the references, which it adds to."""
        self._current = node.variable
        self.clause = "DEFINE"
        asked = self.condition(node.condition)
        condition = transform(asked, self._of_a_row)
        if not supported(condition):
            raise SqlError(
                f"the condition of {node.variable} is not supported: it is evaluated row by row, over the rows before",
                position=node.condition.position,
                hint="Functions of the row itself may be any; of other rows read columns, and compare or compute by "
                "+ - *. Compute the rest in a subquery below MATCH_RECOGNIZE, as columns of their own.",
            )
        return Definition(variable=node.variable, condition=condition)

    def _of_a_row(self, each: Expression) -> Expression | None:
        """What can be computed of the row alone is a column of it, and so is a field of a column of any row."""
        read = [self.references[at] for at in input_indexes(each)]
        if isinstance(each, InputRef | Literal) or not read:
            return None
        of_a_field = all(isinstance(part, InputRef | FieldAccess) for part in walk(each))
        if all(map(self._is_the_row, read)):
            row = RowReference(variable=self._current or ALL_ROWS, arg_list=(), type=each.type)
        elif of_a_field and not read[0].is_aggregate:
            # It is NULL where there is no row, as the column is.
            row = read[0]
        else:
            return None
        values = tuple(
            self._columns.expression(reference.arg_list[0]) if reference.arg_list else _UNREAD
            for reference in self.references
        )
        column = self._columns.index(substitute(each, values))
        return self._reference(row.model_copy(update={"arg_list": (column,), "type": each.type}))

    def _is_the_row(self, reference: RowReference) -> bool:
        own = reference.variable in (self._current, ALL_ROWS)
        return own and reference.function == "LAST" and not reference.offset

    def _reference(self, reference: RowReference) -> InputRef:
        if reference not in self.references:
            self.references.append(reference)
        return InputRef(input_index=self.references.index(reference), type=reference.type)

    # What is read.

    def _convert(self, node: s.Expr) -> Expression:
        if isinstance(node, s.Name):
            variable, column = self._shape.split(node, self.scope)
            return self._navigated("LAST", 0, variable, column)
        if isinstance(node, s.Call) and not node.quoted:
            name = node.name.upper()
            if name in ("FIRST", "LAST"):
                return self._navigation(node, name)
            if name in (ROW_TIME, PROC_TIME):
                return self._time(node, name)
            if name in _OTHERS:
                raise SqlError(f"{name} is not supported", position=node.position, hint=_OTHERS[name])
        if isinstance(node, s.Call) and is_aggregate(node, self.catalog):
            return self._aggregate(node)
        return super()._convert(node)

    def _navigated(self, function: str, offset: int, variable: str, value: Expression) -> Expression:
        missing = offset >= self._shape.least(variable, self._current)
        type_ = value.type.with_nullable(value.type.nullable or missing).regular()
        return self._reference(
            RowReference(
                variable=variable, function=function, offset=offset, arg_list=(self._columns.index(value),), type=type_
            )
        )

    def _navigation(self, node: s.Call, name: str) -> Expression:
        if not 1 <= len(node.args) <= 2:
            raise SqlError(f"{name} takes a value, and how many rows further", position=node.position)
        variable, value = self._operand(node.args[0], name)
        offset = 0
        if len(node.args) == 2:
            given = node.args[1]
            number = given.literal.value if isinstance(given, s.Constant) else None
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise SqlError(f"the second operand of {name} is a constant number from 0", position=given.position)
            offset = number
        return value if variable is None else self._navigated(name, offset, variable, value)

    def _operand(self, node: s.Expr, name: str) -> tuple[str | None, Expression]:
        """An expression over one row, and whose row it is; None for none."""
        operand = _Operand(self.scope, self.catalog, self._shape, name)
        value = operand.convert(node)
        if len(operand.variables) > 1:
            raise SqlError(f"Multiple pattern variables in '{written(node)}'", position=node.position)
        return next(iter(operand.variables), None), value

    def _time(self, node: s.Call, name: str) -> Expression:
        if self._current is not None:
            raise SqlError(f"{name} is a measure, and may not stand in DEFINE", position=node.position)
        if name == PROC_TIME:
            return resolve("PROCTIME", (), position=node.position)
        if node.args:
            _, value = self._operand(node.args[0], name)
            if not isinstance(value, InputRef) or self._columns.index(value) != self._shape.time:
                hint = f"Write {name}()."
                raise SqlError(f"{name} takes the column that rows are ordered by", position=node.position, hint=hint)
        type_ = self._columns.type(self._shape.time).with_nullable(False)
        return self._reference(RowReference(variable=ALL_ROWS, arg_list=(self._shape.time,), type=type_))

    def _aggregate(self, node: s.Call) -> Expression:
        name = node.name.upper()
        clause = "DISTINCT" if node.distinct else "FILTER" if node.filter else "WITHIN GROUP" if node.order else None
        if clause or find_aggregate(self.catalog, node) is not None:
            what = f"{clause} in an aggregate" if clause else f"{node.name}, a function of the user,"
            raise SqlError(f"{what} of MATCH_RECOGNIZE is not supported", position=node.position)
        if self._current is not None and name not in _IN_CONDITIONS:
            raise SqlError(
                f"{name} may not stand in DEFINE", position=node.position, hint=f"Use {', '.join(_IN_CONDITIONS)}."
            )
        operands = [self._operand(each, name) for each in node.args]
        variables = {variable for variable, _ in operands if variable is not None}
        if len(variables) > 1:
            raise SqlError(f"Multiple pattern variables in '{written(node)}'", position=node.position)
        arguments, options = constant_arguments(node, name, [value for _, value in operands])
        internal_name, type_ = aggregates.resolve(
            internal_function(name, node, options),
            tuple(each.type for each in arguments),
            position=node.position,
            grouped=False,
        )
        if self._current is not None and name == "AVG" and type_.root is Root.DECIMAL:
            raise SqlError("AVG of DECIMAL may not stand in DEFINE", position=node.position, hint="CAST it to DOUBLE.")
        return self._reference(
            RowReference(
                variable=next(iter(variables), ALL_ROWS),
                function=internal_name,
                arg_list=tuple(self._columns.index(each) for each in arguments),
                options=options,
                type=type_,
            )
        )


class _Operand(Converter):
    """Converts what is computed of one row, and tells of which variables it reads."""

    def __init__(self, scope: Scope, catalog: Catalog, shape: _Shape, function: str) -> None:
        super().__init__(scope, catalog, clause=f"an operand of {function}")
        self._shape = shape
        self.variables: set[str] = set()

    def _convert(self, node: s.Expr) -> Expression:
        if isinstance(node, s.Name):
            variable, value = self._shape.split(node, self.scope)
            self.variables.add(variable)
            return value
        if isinstance(node, s.Call) and node.name.upper() in ("FIRST", "LAST", ROW_TIME, PROC_TIME, *_OTHERS):
            raise SqlError(f"{node.name.upper()} may not stand in {self.clause}", position=node.position)
        return super()._convert(node)


@dataclass(frozen=True)
class _Shape:
    """What names mean, and which rows there are at least."""

    pattern: tuple[PatternVariable, ...]
    time: int
    """Column by which rows are ordered."""
    defined: frozenset[str]
    """Variables of DEFINE; the pattern need not have them."""

    def split(self, name: s.Name, scope: Scope) -> tuple[str, Expression]:
        """The variable of a name, and its column."""
        variable = name.parts[0]
        known = variable in self.defined or any(each.name == variable for each in self.pattern)
        if known and len(name.parts) > 1:
            return variable, scope.resolve(s.Name(name.parts[1:], position=name.position))
        if scope.relation(name.parts[:1]) is not None and len(name.parts) > 1:
            raise SqlError(
                f"Table '{variable}' not found: columns are those of variables of the pattern",
                position=name.position,
                hint=f"Write {'.'.join(name.parts[1:])} for the last row of all variables.",
            )
        if len(name.parts) > 1 and not scope.finds(name):
            raise SqlError(f"Table '{variable}' not found", position=name.position, hint=self._names)
        return ALL_ROWS, scope.resolve(name)

    @property
    def _names(self) -> str:
        return f"The pattern has {', '.join(each.name for each in self.pattern)}."

    def least(self, variable: str, current: str | None) -> int:
        """How many rows of a variable there are at least, where the rows of `current` are asked; None: at the end."""
        names = [each.name for each in self.pattern]
        if variable == ALL_ROWS:
            return sum(each.min_rows for each in self.pattern) if current is None else 1
        if variable == current:
            return 1
        if variable not in names or (current in names and names.index(variable) > names.index(current or "")):
            return 0
        return self.pattern[names.index(variable)].min_rows
