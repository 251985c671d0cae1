"""What the conditions and measures of MATCH_RECOGNIZE read of rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from execnodes import aggregates
from execnodes.core.errors import SqlError
from execnodes.core.expressions import (
    Expression,
    FieldAccess,
    InputRef,
    Literal,
    input_indexes,
    substitute,
    transform,
    walk,
)
from execnodes.core.match_spec import ALL_ROWS, CONDITION_AGGREGATES, Definition, PatternVariable, RowReference
from execnodes.core.predicates import supported
from execnodes.core.types import BOOLEAN, Root
from execnodes.functions import resolve
from planner import syntax as s
from planner.bind.aggregate import constant_arguments, internal_function
from planner.bind.expression_binder import Converter, is_aggregate
from planner.bind.projected_columns import ProjectedColumns
from planner.bind.scope import Scope
from planner.bind.source import Source
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


class MatchReader(Converter):
    """Converts measures or definitions: what they read of rows becomes a column of `references`."""

    def __init__(self, source: Source, catalog: Catalog, columns: ProjectedColumns, shape: MatchShape) -> None:
        super().__init__(source.scope, catalog, clause="MATCH_RECOGNIZE")
        self._columns, self._shape = columns, shape
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
        return _one_of(operand.variables, node), value

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
        variable = _one_of({variable for variable, _ in operands if variable is not None}, node)
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
                variable=variable or ALL_ROWS,
                function=internal_name,
                arg_list=tuple(self._columns.index(each) for each in arguments),
                options=options,
                type=type_,
            )
        )


def _one_of(variables: Collection[str], node: s.Expr) -> str | None:
    """The variable whose rows are read; None for none."""
    if len(variables) > 1:
        raise SqlError(f"Multiple pattern variables in '{written(node)}'", position=node.position)
    return next(iter(variables), None)


class _Operand(Converter):
    """Converts what is computed of one row, and tells of which variables it reads."""

    def __init__(self, scope: Scope, catalog: Catalog, shape: MatchShape, function: str) -> None:
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
class MatchShape:
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
