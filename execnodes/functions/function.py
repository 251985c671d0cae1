"""What a function is: which operands it takes, which type it gives, how it reads in Spark SQL."""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from execnodes.core.errors import Position
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import LogicalType
from execnodes.functions.families import Parameters
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type


@dataclass(frozen=True, slots=True)
class Invocation:
    """A function as written: its operands, not yet converted."""

    name: str
    operands: tuple[Expression, ...]
    position: Position | None = None
    result: LogicalType | None = None
    """Type asked for: the target of a CAST, the RETURNING of JSON_VALUE."""

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """Types of the operands."""
        return tuple(each.type for each in self.operands)


@dataclass(frozen=True, slots=True)
class Binding:
    """An invocation that fits: operands converted, type of the result known."""

    operands: tuple[Expression, ...]
    type: LogicalType
    name: str | None = None
    """Another function that does the work, or the version that does; None for the newest one that was called."""


Operands = tuple[Expression, ...]
Bind = Callable[[Invocation], Binding | None]
Lower = Callable[[Scope, Call], str]


@dataclass(frozen=True, slots=True)
class Function:
    """One released version of a function. Never changed in what it computes; a new meaning is a new version."""

    name: str
    signatures: tuple[str, ...]
    """For error messages."""
    bind: Bind
    """Gives None if the operands do not fit."""
    lower: Lower
    version: int = 1
    since: str = "1.0"
    """Engine version from which a plan that names no version means this one."""
    deterministic: bool = True
    repeatable: bool = True
    """Whether it has one value in a micro-batch, as clocks do; a value that differs at each call is made once a row."""
    only: Callable[[Operands], bool] | None = None
    """For which operands it differs from the version before; that one is called for others, so that states go on."""

    @property
    def internal_name(self) -> str:
        """``$UPPER$1``."""
        return f"${self.name}${self.version}"


Types = Sequence[LogicalType]
Returns = LogicalType | Callable[[Types], LogicalType | None]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a function."""

    parameters: Parameters
    returns: Returns
    nullable: bool | None = None
    """Whether the result may be NULL; None: if any operand may."""


def form(parameters: str, returns: Returns, *, nullable: bool | None = None) -> Form:
    """A way to call a function; `parameters` as in ``"TEXT, INT?"`` (see `families`)."""
    return Form(Parameters.parse(parameters), returns, nullable)


def function(
    name: str,
    *forms: Form,
    sql: str | Lower,
    deterministic: bool = True,
    repeatable: bool = True,
    since: str = "1.0",
    version: int = 1,
    only: Callable[[Operands], bool] | None = None,
    words: Collection[str] = (),
    nullable_by: int | None = None,
) -> Function:
    """A function with fixed parameter lists; `sql` is a template (see `template`) or a callable.

    `words`: what symbols among the operands may be. `nullable_by`: the only operand whose NULL makes the result NULL.
    """

    def bind(call: Invocation) -> Binding | None:
        for each in forms:
            operands = each.parameters.convert(call.operands)
            if operands is None or not each.parameters.say(operands, words):
                continue
            types = [operand.type for operand in operands]
            result = each.returns if isinstance(each.returns, LogicalType) else each.returns(types)
            if result is None:
                continue
            deciding = types if nullable_by is None else types[nullable_by : nullable_by + 1]
            nullable = any(t.nullable for t in deciding) if each.nullable is None else each.nullable
            return Binding(operands, result.regular().with_nullable(nullable))
        return None

    signatures = tuple(f"{name}({each.parameters})" for each in forms)
    lower = template(sql) if isinstance(sql, str) else sql
    return Function(name, signatures, bind, lower, version, since, deterministic, repeatable, only)


@dataclass(frozen=True, slots=True)
class Template:
    """Lowering by one text."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)

    def __call__(self, scope: Scope, call: Call) -> str:
        """The text, filled."""
        texts = scope.texts(call.operands)

        def fill(parts: Sequence[str]) -> str:
            return self.text.format(*parts, type=spark_type(call.type), zone=scope.zone_text)

        repeated = [index for index in range(len(texts)) if self.counts.get(str(index), 0) > 1]
        return scope.share_some(texts, repeated, fill)


def not_empty(operand: Expression) -> bool:
    """Whether it is a constant text with characters."""
    return isinstance(operand, Literal) and isinstance(operand.value, str) and operand.value != ""


def template(text: str) -> Lower:
    """Lowering by a text with ``{0}``, ``{1}`` for operands, ``{type}`` for the Spark type of the result and ``{zone}``
    for the session zone; an operand that occurs twice is evaluated once if its text is long.
    """
    counts: dict[str, int] = {}
    for _, name, _, _ in string.Formatter().parse(text):
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return Template(text, counts)


def by_count(*templates: str) -> Lower:
    """Lowering by the template whose number of distinct operands is that of the call."""
    made = {len({n for _, n, _, _ in string.Formatter().parse(t) if n and n.isdigit()}): template(t) for t in templates}

    def lower(scope: Scope, call: Call) -> str:
        return made[len(call.operands)](scope, call)

    return lower
