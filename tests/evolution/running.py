"""Runs an old query up to a savepoint and the new one from it, and the new one alone for comparison."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.changelog import RowKind
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.results.json_values import row_to_json
from rekindle.statements.catalog_tables import CatalogTables
from rekindle.testing.redirect import redirect
from tests.evolution.matrix import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Mapping[str, Sequence[Mapping[str, object]]]
"""Table to rows."""
Net = dict[str, Counter[str]]
"""Sink to rows with how often they were added, less how often they were taken back."""
_TAKEN_BACK = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


class Pipeline:
    """A folder with the files of all tables, and the plans over it."""

    def __init__(
        self, spark: SparkSession, folder: Path, sinks: str = "", tables: str = TABLES, **options: str
    ) -> None:
        """`sinks`: DDL of the tables that are written; `tables`: of those that are read."""
        self._spark, self.folder = spark, folder
        self._tables = tables.replace("${dir}", str(folder)) + sinks
        self._options = {"table.plan.evolution.consent": "allow", "parallelism.default": "1", **options}
        self._files = 0
        for table in ("t", "r", "x", "cdc", "late"):
            (folder / table).mkdir(parents=True)

    def put(self, rows: Rows) -> None:
        """A further file for each table."""
        self._files += 1
        for table, lines in rows.items():
            text = "".join(json.dumps(each) + "\n" for each in lines)
            (self.folder / table / f"{self._files:03}.json").write_text(text, encoding="utf-8")

    def plan(self, query: str, origin: CompiledPlan | None = None) -> CompiledPlan:
        """A query's plan."""
        return TableEnvironment.create(self._options).compile_script(self._tables + query, from_plan=origin)

    def run(
        self, plan: CompiledPlan, savepoint: Path | None = None, target: Path | None = None, *, drains: bool = True
    ) -> Net:
        """Run to the end of the files that are there; with `target`, only up to a savepoint.

        Without `drains` it ends as if there were one, and what only the end of the input would give is not given.
        """
        from rekindle.connectors.collect import clear, results
        from rekindle.runtime.stream_job import StreamJob

        environment = TableEnvironment.create({**self._options, "execution.state-recovery.path": str(savepoint or "")})
        redirected = redirect(plan.graph, CatalogTables(environment.catalog), f"evolution-{uuid.uuid4().hex}")
        options = Configuration(environment.configuration)
        text = plan.as_json_string()

        end = target if drains else self.folder / f"end-{uuid.uuid4().hex}"
        job = StreamJob(redirected.graph, text, options, spark=self._spark, savepoint_at_end=end).start()
        try:
            assert job.wait(300), "it does not end"
            return {each.table: _net(results(each.collected), each.schema.writable) for each in redirected.sinks}
        finally:
            for each in redirected.sinks:
                clear(each.collected)


def _net(changes: Sequence[tuple[int, tuple[object, ...]]], columns: Sequence[object]) -> Counter[str]:
    from execnodes.core.tables import Column

    types = [each.data_type for each in columns if isinstance(each, Column)]
    found: Counter[str] = Counter()
    for kind, row in changes:
        text = json.dumps(row_to_json(row, types), ensure_ascii=False)
        found[text] += -1 if RowKind(kind) in _TAKEN_BACK else 1
    return Counter({row: times for row, times in found.items() if times})


def less(one: Net, other: Net) -> Net:
    """What came to pass between the end of `other` and that of `one`."""
    found = {}
    for sink in one:
        difference = Counter(one[sink])
        difference.subtract(other.get(sink, Counter()))
        found[sink] = Counter({row: times for row, times in difference.items() if times})
    return found
