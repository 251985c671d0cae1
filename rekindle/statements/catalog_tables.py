"""The session's tables and functions as restoring a plan asks for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from execnodes.core.tables import ResolvedTable
from execnodes.user_functions.loading import Definition
from planner.catalog.catalogs import Catalog, quoted
from plans.compatibility.restore import CatalogTable
from plans.format.calls import UserCall


class CatalogTables:
    """`CatalogLookup` and `FunctionLookup` over a catalog; views are no tables."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def lookup(self, identifier: tuple[str, str, str]) -> CatalogTable | None:
        """The table of that name, temporary ones first; None if there is none."""
        entry = self._catalog.find(identifier)
        if entry is None or not isinstance(entry.object, ResolvedTable):
            return None
        return CatalogTable(entry.object, entry.temporary)

    def function(self, call: UserCall) -> tuple[Callable[[], Definition], bool] | None:
        """What loads the function that a call names, and whether it is temporary; None if there is none."""
        for temporary, known in (
            (True, self._catalog.system_functions if call.system_name else self._catalog.temporary_functions),
            (False, {} if call.system_name else self._catalog.functions),
        ):
            for identifier, function in known.items():
                if call.user_name in (quoted(identifier), identifier[2] if call.system_name else None):
                    return partial(function.definition, identifier[2]), temporary
        return None
