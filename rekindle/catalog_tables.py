"""The session's tables as restoring a plan asks for them."""

from __future__ import annotations

from execnodes.core.tables import ResolvedTable
from planner.catalog import Catalog
from plans.restore import CatalogTable


class CatalogTables:
    """`CatalogLookup` over a catalog; views are no tables."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def lookup(self, identifier: tuple[str, str, str]) -> CatalogTable | None:
        """The table of that name, temporary ones first; None if there is none."""
        entry = self._catalog.find(identifier)
        if entry is None or not isinstance(entry.object, ResolvedTable):
            return None
        return CatalogTable(entry.object, entry.temporary)
