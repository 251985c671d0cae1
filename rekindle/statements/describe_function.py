"""DESCRIBE FUNCTION: where a function is from and, EXTENDED, what it is and takes. Names are Flink's."""

from __future__ import annotations

from execnodes.aggregates import is_aggregate
from execnodes.core.errors import CatalogError
from execnodes.functions.registry import newest
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.loading import Definition
from execnodes.user_functions.table import TableDefinition
from planner.catalog.catalogs import Catalog, quoted
from planner.catalog.user_functions import FoundFunction
from planner.statements import DescribeFunction
from rekindle.statements.show import Listing, system_functions

Rows = list[tuple[str, str]]


def describe_function(statement: DescribeFunction, catalog: Catalog) -> Listing:
    """A row a fact; CatalogError for a function that there is not, FunctionError for one that cannot be loaded."""
    path, name = statement.path, statement.path[-1]
    is_system = len(path) == 1 and name.lower() in system_functions()
    found = catalog.find_function(path, is_system=is_system)
    if found is not None:
        rows = _of_the_user(found, extended=statement.extended)
    elif is_system:
        rows = _of_the_system(name.upper(), extended=statement.extended)
    else:
        raise CatalogError(
            f"function {quoted(path)} does not exist",
            position=statement.position,
            hint="SHOW FUNCTIONS lists those that there are.",
        )
    return ("info name", "info value"), list(rows)


def _of_the_user(found: FoundFunction, *, extended: bool) -> Rows:
    temporary = not found.class_name
    rows = [("is system function", _text(bool(found.system_name))), ("is temporary", _text(temporary))]
    if found.function.class_name:
        rows += [("class name", found.function.class_name), ("function language", found.function.language)]
    if not extended:
        return rows
    definition = found.definition
    return [
        *rows,
        ("kind", _kind(definition)),
        ("is deterministic", _text(definition.deterministic)),
        ("signature", str(definition)),
    ]


def _kind(definition: Definition) -> str:
    if isinstance(definition, AggregateDefinition):
        return "AGGREGATE"
    if isinstance(definition, TableDefinition):
        return "TABLE"
    return "ASYNC_SCALAR" if definition.waits else "SCALAR"


def _of_the_system(name: str, *, extended: bool) -> Rows:
    rows = [("is system function", "true"), ("is temporary", "false")]
    if not extended:
        return rows
    scalar = newest(name)
    if scalar is None or is_aggregate(name):
        return [*rows, ("kind", "AGGREGATE"), ("is deterministic", "true")]
    return [
        *rows,
        ("kind", "SCALAR"),
        ("is deterministic", _text(scalar.deterministic)),
        ("signature", "; ".join(scalar.signatures)),
    ]


def _text(value: bool) -> str:
    return str(value).lower()
