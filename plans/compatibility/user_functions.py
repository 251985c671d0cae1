"""Where the functions of the user come from that a restored plan calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from execnodes.core import consent
from execnodes.core.consent import ClassNotAllowedError
from execnodes.core.errors import FunctionError, PlanError
from execnodes.core.expressions import Call, title
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.lowering.user_calls import operand_types
from execnodes.state.serializers.make import serializer_of
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.loading import Definition, load
from plans.compatibility.restore import Mode
from plans.format.calls import UserCall, map_calls, user_calls


class FunctionLookup(Protocol):
    """What restoring asks of the catalogs of the session."""

    def function(self, call: UserCall) -> tuple[Callable[[], Definition], bool] | None:
        """What loads the function that a call names, and whether it is temporary; None if there is none."""
        ...


def resolve_functions(graph: ExecGraph, lookup: FunctionLookup, mode: Mode = "ALL") -> Mapping[str, Definition]:
    """Every function of the user that a plan calls, by its name there.

    `mode` ALL takes the catalog's and else the class in the plan, ALL_ENFORCED of permanent functions only that class,
    IDENTIFIER only the catalog's. PlanError if a function is nowhere, or is no longer what was compiled. Nothing is
    imported before the modules of all classes of the plan are known to be allowed.
    """
    found: dict[str, Definition] = {}
    calls = [(node, call) for node in graph.nodes for call in user_calls(node)]
    for node, call in calls:
        _ask(node, call, lookup, mode)
    for node, call in calls:
        try:
            definition = _resolve(node, call, lookup, mode)
        except (FunctionError, ClassNotAllowedError) as error:
            raise node.fail(error.message, error.hint) from error
        _check(node, call, definition)
        found[call.user_name] = definition
    return found


def with_accumulators(graph: ExecGraph, functions: Mapping[str, Definition]) -> ExecGraph:
    """The graph with accumulators as its functions have them now, which may be newer than the plan."""

    def now(call: UserCall) -> UserCall:
        definition = functions.get(call.user_name)
        if isinstance(call, Call) or not isinstance(definition, AggregateDefinition):
            return call
        schema = serializer_of(definition).schema()
        return call if schema == call.accumulator else call.model_copy(update={"accumulator": schema})

    return graph.with_nodes(tuple(map_calls(node, now) for node in graph.nodes)) if functions else graph


def _ask(node: ExecNode, call: UserCall, lookup: FunctionLookup, mode: Mode) -> None:
    """PlanError if the class in the plan would be imported, and nobody has allowed its module."""
    if not call.class_name or mode == "IDENTIFIER" or _given(call, lookup, mode) is not None:
        return
    try:
        consent.require(consent.module_of(call.class_name), f"function {title(call)}")
    except ClassNotAllowedError as error:
        raise node.fail(error.message, error.hint) from error


def _given(call: UserCall, lookup: FunctionLookup, mode: Mode) -> Callable[[], Definition] | None:
    """What loads the session's own function, if it may be taken."""
    given = lookup.function(call)
    return given[0] if given is not None and (mode != "ALL_ENFORCED" or given[1]) else None


def _resolve(node: ExecNode, call: UserCall, lookup: FunctionLookup, mode: Mode) -> Definition:
    given = _given(call, lookup, mode)
    if given is not None:
        return given()
    if call.class_name and mode != "IDENTIFIER":
        return load(call.class_name, title(call))
    if mode == "ALL_ENFORCED" and lookup.function(call) is not None:
        raise node.fail(
            f"the plan holds no class of function {call.user_name}, and the catalog may not be asked for it "
            "(table.plan.restore.catalog-objects = ALL_ENFORCED)",
            "Restore with ALL or IDENTIFIER, or compile with table.plan.compile.catalog-objects = ALL.",
        )
    what = "temporary system function" if call.system_name else "function"
    raise node.fail(
        f"{what} {call.user_name} is not registered, and the plan holds only its identifier"
        if not call.class_name
        else f"{what} {call.user_name} is not in the catalog, and the class in the plan may not be used",
        "Register it before the plan runs: create_temporary_function, or CREATE … FUNCTION in the script given with -i."
        if not call.class_name
        else "Create it, or restore with table.plan.restore.catalog-objects = ALL.",
    )


def _check(node: ExecNode, call: UserCall, definition: Definition) -> None:
    if isinstance(call, Call):
        _check_scalar(node, call, definition)
        return
    if not isinstance(definition, AggregateDefinition) or not definition.result.same_values(call.type):
        raise _changed(node, call, f"… → {call.type}", str(definition))
    if call.retractable and not definition.retractable:
        raise _changed(node, call, "it with a method retract", f"{definition} without one")


def _check_scalar(node: ExecNode, call: Call, definition: Definition) -> None:
    given = operand_types(call)
    types = definition.parameters.types(given)
    fits = types is not None and all(a.same_values(b) for a, b in zip(types, given, strict=True))
    gives = None if isinstance(definition, AggregateDefinition) else definition.result
    fits = fits and gives is not None and gives.same_values(call.type)
    if fits and definition.deterministic != call.non_deterministic:
        return
    now = f"{definition}{'' if definition.deterministic else ', not deterministic'}"
    was = f"({', '.join(map(str, given))}) → {call.type}{', not deterministic' if call.non_deterministic else ''}"
    raise _changed(node, call, was, now)


def _changed(node: ExecNode, call: UserCall, was: str, now: str) -> PlanError:
    return node.fail(
        f"function {call.user_name} has changed: the plan calls {was}, it is {now}",
        "Compile the plan anew, or register the function as it was under this name.",
    )
