"""The whole walk of a pipeline: INSERT statements to an ExecGraph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from execnodes.core.errors import SqlError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.recursion import room
from planner.lower import lower
from planner.optimize import optimize

if TYPE_CHECKING:
    from planner.catalog import Catalog
    from planner.statements import Insert


def compile_statements(inserts: Sequence[Insert], catalog: Catalog, configuration: Configuration) -> ExecGraph:
    """Compile one INSERT, or all of a statement set together; SqlError says what cannot be taken, and where."""
    from planner.build import build_insert

    with room(lambda: SqlError("the statement nests too deeply", position=inserts[0].position)):
        sinks = [build_insert(each, catalog, configuration) for each in inserts]
        return lower(optimize(sinks, configuration), configuration)
