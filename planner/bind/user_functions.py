"""Calls of functions of the user: which one a name means, and the typed call."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from difflib import get_close_matches

from execnodes.aggregates import is_aggregate
from execnodes.core.errors import FunctionError, SqlError
from execnodes.core.expressions import AggregateCall, Call, Expression
from execnodes.functions.registry import newest
from execnodes.state.serializers.make import serializer_of
from execnodes.state.serializers.pickled import PickleSerializer
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.calls import bind, does_not_take
from execnodes.user_functions.loading import Definition
from execnodes.user_functions.scalar import ScalarDefinition
from execnodes.user_functions.table import TableDefinition
from planner import syntax as s
from planner.catalog.catalogs import Catalog
from planner.catalog.user_functions import FoundFunction

_log = logging.getLogger("rekindle.functions")
_UNSUPPORTED = frozenset(("FROM_CHANGELOG", "TO_CHANGELOG", "ML_PREDICT", "ML_EVALUATE", "ML_TRAIN", "VECTOR_SEARCH"))
"""Table functions that Flink has."""
_WINDOWS = ("tumble", "hop", "cumulate", "session", "unnest")


def find_function(catalog: Catalog, node: s.Call) -> FoundFunction | None:
    """The function of the user that a call means; None if it is one of the system, or unknown."""
    return _named(catalog, node, is_system=newest(node.name.upper()) is not None)


def bind_scalar(found: FoundFunction, operands: tuple[Expression, ...], node: s.Call) -> Call:
    """The typed call; SqlError with its place if the function cannot be loaded or does not take the operands."""
    definition = _definition(found, node)
    if isinstance(definition, TableDefinition):
        raise SqlError(
            f"the table function {node.name} may not stand here: it gives rows, not a value",
            position=node.position,
            hint=f"Write it in FROM: … FROM t, LATERAL TABLE({node.name}(…)) AS r ({_listed(definition)}).",
        )
    if not isinstance(definition, ScalarDefinition):
        raise SqlError(
            f"the aggregate function {node.name} may not stand here",
            position=node.position,
            hint="Aggregates stand in SELECT, HAVING, QUALIFY and ORDER BY of a query with FROM.",
        )
    return bind(
        definition,
        operands,
        node.position,
        system_name=found.system_name,
        catalog_name=found.catalog_name,
        class_name=found.class_name,
    )


def find_table(catalog: Catalog, node: s.TableFunction) -> tuple[FoundFunction, TableDefinition]:
    """The table function of the user that a call means; SqlError if there is none, or it is of another kind.

    No function of the system stands before it: none of them gives rows.
    """
    found = _named(catalog, node, is_system=False)
    if found is None and node.name.upper() in _UNSUPPORTED:
        raise SqlError(f"the table function {node.name} is not supported", position=node.position)
    if found is None:
        system = newest(node.name.upper()) is not None or is_aggregate(node.name)
        if system:
            raise _no_table(node, "a function of the system, but none that gives rows")
        near = get_close_matches(node.name.lower(), [*catalog.list_functions(), *_WINDOWS], n=3)
        raise SqlError(
            f"unknown table function {node.name}",
            position=node.position,
            hint=f"Did you mean {' or '.join(near)}?"
            if near
            else "Register what udtf gives: create_temporary_function, or CREATE FUNCTION … LANGUAGE PYTHON. "
            "Those of the system are TUMBLE, HOP, CUMULATE, SESSION, and UNNEST for collections.",
        )
    definition = _definition(found, node)
    if isinstance(definition, AggregateDefinition):
        raise _no_table(node, "an aggregate function")
    if isinstance(definition, ScalarDefinition):
        raise _no_table(node, "a scalar function")
    return found, definition


def bind_table(found: FoundFunction, definition: TableDefinition, operands: Sequence[Expression], node: s.Call) -> Call:
    """The typed call: the rows as an ARRAY of ROWs."""
    return bind(
        definition,
        operands,
        node.position,
        system_name=found.system_name,
        catalog_name=found.catalog_name,
        class_name=found.class_name,
    )


def find_aggregate(catalog: Catalog, node: s.Call) -> tuple[FoundFunction, AggregateDefinition] | None:
    """The aggregate function of the user that a call means; None for anything else."""
    found = find_function(catalog, node)
    definition = None if found is None else _definition(found, node)
    return (found, definition) if found is not None and isinstance(definition, AggregateDefinition) else None


def bind_aggregate(
    found: FoundFunction, definition: AggregateDefinition, arguments: Sequence[Expression], node: s.Call
) -> tuple[AggregateCall, tuple[Expression, ...]]:
    """The call, its columns still to be chosen, and the arguments as the function takes them."""
    converted = definition.parameters.convert(arguments)
    if converted is None:
        raise does_not_take(definition, arguments, node.position)
    try:
        serializer = serializer_of(definition)
        accumulator = serializer.schema()
    except FunctionError as error:
        raise SqlError(error.message, position=node.position, hint=error.hint) from error
    if isinstance(serializer, PickleSerializer):
        _log.warning(
            "function %s: its accumulator%s can only be pickled, so its state can never evolve; "
            "make it a dataclass, a ROW or an Avro record",
            definition.name,
            f" ({serializer.shown})" if serializer.shown else "",
        )
    call = AggregateCall(
        name="",
        system_name=found.system_name,
        catalog_name=found.catalog_name,
        class_name=found.class_name,
        type=definition.result,
        distinct=node.distinct,
        accumulator=accumulator,
        retractable=definition.retractable,
    )
    return call if definition.deterministic else call.varying(), converted


def _named(catalog: Catalog, node: s.Call | s.TableFunction, *, is_system: bool) -> FoundFunction | None:
    if not node.name[:1].isalpha() and node.name[:1] != "_":
        return None
    path = tuple(node.name.split("."))
    return None if len(path) > 3 else catalog.find_function(path, is_system=is_system)


def _no_table(node: s.TableFunction, what: str) -> SqlError:
    return SqlError(
        f"{node.name} is {what}: it may not stand in FROM",
        position=node.position,
        hint="A table function is what udtf gives, or a TableFunction; UNNEST makes rows of a collection.",
    )


def _listed(definition: TableDefinition) -> str:
    return ", ".join(each.name for each in definition.columns.fields)


def _definition(found: FoundFunction, node: s.Call | s.TableFunction) -> Definition:
    try:
        return found.definition
    except FunctionError as error:
        raise SqlError(error.message, position=node.position, hint=error.hint) from error
