"""Typed expression trees, the only form of an expression inside a plan; JSON as Flink's RexNodes (`kind`, `type`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Annotated, Any, Self, TypeVar
from typing import Literal as Tag

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator
from pydantic import Field as Property
from pydantic.alias_generators import to_camel

from execnodes.core.constants import constant
from execnodes.core.indexes import ColumnIndex, Number, OptionalIndex
from execnodes.core.places import Place
from execnodes.core.types import LogicalType

Value = bool | int | str | None
"""JSON value of a literal: integers, booleans and texts; DECIMAL, DOUBLE and FLOAT as text; DATE as ``2020-01-31``,
TIME and TIMESTAMP as text with their fraction, TIMESTAMP_LTZ as text in UTC, day-time intervals as milliseconds,
year-month intervals as months, BYTES as hexadecimal text."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class InputRef(_Node):
    """A column of the input, by index from 0; a two-input node counts the left columns first."""

    kind: Tag["INPUT_REF"] = "INPUT_REF"
    input_index: int
    type: LogicalType


class Literal(_Node):
    """A constant."""

    kind: Tag["LITERAL"] = "LITERAL"
    value: Value
    type: LogicalType

    @model_validator(mode="after")
    def _of_its_type(self) -> Self:
        constant(self.value, self.type)
        return self


class Call(_Node):
    """A call of a function: one of the system by name and version, or one of the user by identifier."""

    kind: Tag["CALL"] = "CALL"
    internal_name: str = ""
    """``$NAME$VERSION``, e.g. ``$UPPER$1``; the name is Flink's. Empty for a function of the user."""
    system_name: str = ""
    """Of a temporary system function."""
    catalog_name: str = ""
    """Of a function of a catalog, in full: ```catalog`.`database`.`name```; temporary ones too."""
    class_name: str = Property("", alias="class")
    """``module:name`` of a permanent function of a catalog."""
    non_deterministic: bool = False
    """The user's function may give other values for the same operands."""
    operands: tuple[Expression, ...] = ()
    type: LogicalType
    _place: Place | None = PrivateAttr(None)
    _waits: bool = PrivateAttr(False)
    _compared_at: Place | None = PrivateAttr(None)
    _varies_at: Place | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        return _with_one_name(self)

    @property
    def place(self) -> Place | None:
        """Where the SQL has it, of calls that can fail; stands beside the nodes in a plan."""
        return self._place

    def put(self, place: Place) -> Self:
        """Say where the SQL has it; a call that was just made, and that nobody else holds."""
        self._place = place
        return self

    @property
    def waits(self) -> bool:
        """The function is an `async def`. The planner chooses the node by it; plans do not hold it."""
        return self._waits

    def waiting(self) -> Self:
        """Say that the function is an `async def`; a call as in `put`."""
        self._waits = True
        return self

    @property
    def compared_at(self) -> Place | None:
        """Of a cast that the SQL has not got: where it compares the operand with another type. Plans do not hold it."""
        return self._compared_at

    def for_comparison(self, place: Place) -> Self:
        """Say that a comparison needs this cast; a call as in `put`."""
        self._compared_at = place
        return self

    @property
    def varies_at(self) -> Place | None:
        """Of a call that may give another value for the same row: where the SQL has it. Plans do not hold it."""
        return self._varies_at or self._place

    def varying(self, place: Place) -> Self:
        """Say where the SQL has such a call; a call as in `put`."""
        self._varies_at = place
        return self

    @property
    def user_name(self) -> str:
        """What names a function of the user in the plan; empty for one of the system."""
        return self.system_name or self.catalog_name


class FieldAccess(_Node):
    """A field of a ROW value, by name."""

    kind: Tag["FIELD_ACCESS"] = "FIELD_ACCESS"
    name: str
    expr: Expression
    type: LogicalType


Expression = Annotated[InputRef | Literal | Call | FieldAccess, Property(discriminator="kind")]
Call.model_rebuild()
FieldAccess.model_rebuild()


class AccumulatorSchema(_Node):
    """What an aggregate function of the user keeps for a group: a snapshot of the serializer of its accumulators."""

    serializer: str
    """``dataclass``, ``row``, ``avro``, ``pickle``, or ``module:class`` of the user's own snapshot."""
    version: Number = 1
    """Of the snapshot's configuration."""
    type: LogicalType
    """A ROW: the columns of the state."""
    configuration: dict[str, Value] = Property(default_factory=dict)
    """What the snapshot has written of the serializer."""


class AggregateCall(_Node):
    """One aggregate function over columns of the input."""

    name: str
    """Name of the result column."""
    internal_name: str = ""
    """``$SUM$1``. Empty for a function of the user, which is named as in `Call`."""
    system_name: str = ""
    catalog_name: str = ""
    class_name: str = Property("", alias="class")
    arg_list: tuple[ColumnIndex, ...] = ()
    """Input columns the function reads; empty for COUNT(*)."""
    filter_arg: OptionalIndex = -1
    """A BOOLEAN input column that must be TRUE for a row to count; -1 for none."""
    distinct: bool = False
    type: LogicalType
    options: dict[str, Value] = Property(default_factory=dict)
    """Constants the function needs beside its columns, e.g. the separator of LISTAGG."""
    accumulator: AccumulatorSchema | None = None
    """Of a function of the user: what it keeps for a group."""
    retractable: bool = False
    """The user's function can take rows back."""
    _place: Place | None = PrivateAttr(None)
    _varies: bool = PrivateAttr(False)

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        return _with_one_name(self)

    @property
    def user_name(self) -> str:
        """What names a function of the user in the plan; empty for one of the system."""
        return self.system_name or self.catalog_name

    @property
    def title(self) -> str:
        """The function as people know it, e.g. ``SUM``."""
        return title(self)

    @property
    def place(self) -> Place | None:
        """Where the SQL has it, of calls that can fail; stands beside the nodes in a plan."""
        return self._place

    def put(self, place: Place) -> Self:
        """Say where the SQL has it; a call that was just made, and that nobody else holds."""
        self._place = place
        return self

    @property
    def varies(self) -> bool:
        """The user's function may give another value for the same rows. Plans do not hold it."""
        return self._varies

    @property
    def varies_at(self) -> Place | None:
        """As of `Call`."""
        return self._place

    def varying(self) -> Self:
        """Say that the function may give another value for the same rows; a call as in `put`."""
        self._varies = True
        return self


C = TypeVar("C", bound=Call | AggregateCall)


def _with_one_name(call: C) -> C:
    names = [each for each in (call.internal_name, call.system_name, call.catalog_name) if each]
    if len(names) != 1:
        raise ValueError("a call has one of internalName, systemName and catalogName")
    if call.class_name and not call.catalog_name:
        raise ValueError("only functions of a catalog have a class")
    return call


def title(call: Call | AggregateCall) -> str:
    """The function as people know it: ``UPPER`` of ``$UPPER$1``, the bare name of a function of the user."""
    if call.catalog_name:
        return call.catalog_name.rpartition("`.`")[2].removesuffix("`").replace("``", "`")
    return call.system_name or call.internal_name.strip("$").rsplit("$", 1)[0]


def reads_watermark(call: Call) -> bool:
    """Whether a call gives what the watermark was before its row: CURRENT_WATERMARK, in any version."""
    return call.internal_name.startswith("$CURRENT_WATERMARK$")


def children(expression: Expression) -> tuple[Expression, ...]:
    """Direct operands."""
    if isinstance(expression, Call):
        return expression.operands
    return (expression.expr,) if isinstance(expression, FieldAccess) else ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, parents first, left to right."""
    left = [expression]
    while left:
        each = left.pop()
        yield each
        left.extend(reversed(children(each)))


def conditions_of(condition: Expression) -> tuple[Expression, ...]:
    """What must all hold: the operands of AND, however deep, in order; a condition without AND is one."""
    found: list[Expression] = []
    left = [condition]
    while left:
        each = left.pop()
        if isinstance(each, Call) and each.internal_name == "$AND$1":
            left.extend(reversed(each.operands))
        else:
            found.append(each)
    return tuple(found)


def user_calls(expression: Expression) -> Iterator[Call]:
    """Calls of functions of the user in an expression."""
    return (each for each in walk(expression) if isinstance(each, Call) and each.user_name)


def transform(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Replace every sub-expression for which `change` gives one (its own operands are not visited again)."""
    changed = change(expression)
    if changed is not None:
        return changed
    if isinstance(expression, Call):
        operands = tuple(transform(each, change) for each in expression.operands)
        same = all(mine is other for mine, other in zip(operands, expression.operands, strict=True))
        return expression if same else expression.model_copy(update={"operands": operands})
    if isinstance(expression, FieldAccess):
        inner = transform(expression.expr, change)
        return expression if inner is expression.expr else expression.model_copy(update={"expr": inner})
    return expression


def taken_over(expressions: Iterable[Expression], columns: Collection[int]) -> frozenset[int]:
    """Places at which one of these input columns stands as it is."""
    places = enumerate(expressions)
    return frozenset(at for at, each in places if isinstance(each, InputRef) and each.input_index in columns)


def input_indexes(expression: Expression) -> set[int]:
    """Indexes of the input columns that occur."""
    return {each.input_index for each in walk(expression) if isinstance(each, InputRef)}


def remap(expression: Expression, mapping: Callable[[int], int]) -> Expression:
    """The same expression over other input indexes."""

    def change(each: Expression) -> Expression | None:
        if isinstance(each, InputRef):
            return each.model_copy(update={"input_index": mapping(each.input_index)})
        return None

    return transform(expression, change)


def substitute(expression: Expression, inputs: tuple[Expression, ...]) -> Expression:
    """Replace each input column by an expression: the composition of two projections."""

    def change(each: Expression) -> Expression | None:
        return inputs[each.input_index] if isinstance(each, InputRef) else None

    return transform(expression, change)


def digest(expression: Expression, names: tuple[str, ...]) -> str:
    """A short text for descriptions and explain, with column names instead of indexes."""
    if isinstance(expression, InputRef):
        return names[expression.input_index]
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, FieldAccess):
        return f"{digest(expression.expr, names)}.{expression.name}"
    name = title(expression)
    parts = [digest(each, names) for each in expression.operands]
    if len(parts) == 2 and not name[0].isalpha():
        return f"({parts[0]} {name} {parts[1]})"
    if name in ("AND", "OR"):
        return f"({f' {name} '.join(parts)})"
    if name in ("CAST", "TRY_CAST"):
        return f"{name}({parts[0]} AS {expression.type})"
    return f"{name}({', '.join(parts)})"


def _literal(literal: Literal) -> str:
    value: Any = literal.value
    if value is None:
        return "null"
    # A text may have a NUL, what tells of it may not.
    text = str(value).replace("\0", "\\0")
    return f"'{text}'" if isinstance(value, str) and literal.type.root in ("CHAR", "VARCHAR") else text
