"""Functions since 2.1 that compare what holds MAPs, within ARRAYs and ROWs too, as Flink does; Spark refuses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.types import BOOLEAN, LogicalType, Root
from execnodes.functions.collections import SETS
from execnodes.functions.comparison import COMPARISONS, IN, IS_DISTINCT_FROM, IS_NOT_DISTINCT_FROM, NOT_IN
from execnodes.functions.conditional import NULLIF
from execnodes.functions.function import Binding, Invocation, Lower, Operands
from execnodes.functions.maps_as_members import comparable, distinct, holds_maps, keys_of
from execnodes.functions.scope import Scope


def _is_nested(operands: Operands) -> bool:
    """Whether maps are within what is compared: those that are compared themselves are version 1's."""
    return any(_holds_nested(each.type) for each in operands)


def _holds_nested(t: LogicalType) -> bool:
    return holds_maps(t.element if t.root is Root.MAP else t) if t.root is not Root.MULTISET else False


def _lower(form: str) -> Lower:
    """By a text with ``{0}`` for what stands left, and ``{1}`` for all others."""

    def lower(scope: Scope, call: Call) -> str:
        value, *others = (comparable(scope, scope.text(each), each.type) for each in call.operands)
        return form.format(value, ", ".join(others))

    return lower


EQUALITIES = tuple(
    replace(each, lower=_lower(f"({{0}} {each.name} {{1}})"), version=2, since="2.1", only=_is_nested)
    for each in COMPARISONS
    if each.name in ("=", "<>")
)
MEMBERSHIPS = tuple(
    replace(
        each,
        lower=_lower(f"({{0}} {each.name} ({{1}}))"),
        version=2,
        since="2.1",
        only=lambda operands: holds_maps(operands[0].type),
    )
    for each in (IN, NOT_IN)
)


def _bind_nullif(call: Invocation) -> Binding | None:
    made = NULLIF.bind(call)
    equal = None if made is None else made.operands[0]
    if made is None or not isinstance(equal, Call) or not _is_nested(equal.operands):
        return made
    nested = equal.model_copy(update={"internal_name": EQUALITIES[0].internal_name})
    return replace(made, operands=(nested, *made.operands[1:]))


NULLIF_2 = replace(NULLIF, bind=_bind_nullif, version=2, since="2.1")


def _bind_distinct(call: Invocation) -> Binding | None:
    made = EQUALITIES[0].bind(replace(call, name="="))
    return None if made is None else Binding(made.operands, BOOLEAN.not_null())


DISTINCTIONS = tuple(
    replace(
        each,
        bind=_bind_distinct,
        lower=_lower(form),
        version=2,
        since="2.1",
        only=lambda operands: holds_maps(operands[0].type),
    )
    for each, form in ((IS_DISTINCT_FROM, "(NOT ({0} <=> {1}))"), (IS_NOT_DISTINCT_FROM, "({0} <=> {1})"))
)


def _lower_set(test: str | None) -> Lower:
    """Members of both ARRAYs, or those of the first one whose place in the other passes a test."""

    def lower(scope: Scope, call: Call) -> str:
        element, each = call.type.element, scope.fresh()

        def body(sides: Sequence[str]) -> str:
            members = f"concat({sides[0]}, {sides[1]})"
            if test is not None:
                key = f"named_struct('m', {comparable(scope, each, element)})"
                members = scope.share(
                    keys_of(scope, sides[1], element),
                    lambda keys: f"filter({sides[0]}, {each} -> array_position({keys}, {key}) {test})",
                )
            return f"if({sides[0]} IS NULL OR {sides[1]} IS NULL, NULL, {distinct(scope, members, element)})"

        return scope.share_some(scope.texts(call.operands), [0, 1], body)

    return lower


_TESTS = {"ARRAY_UNION": None, "ARRAY_EXCEPT": "= 0", "ARRAY_INTERSECT": "> 0"}
SETS_OF_MAPS = tuple(
    replace(
        each,
        lower=_lower_set(_TESTS[each.name]),
        version=3,
        since="2.1",
        only=lambda operands: holds_maps(operands[0].type),
    )
    for each in SETS
)
