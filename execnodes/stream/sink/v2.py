"""Version 2 (1.3): what the table takes stands in the plan, as the planner was told when it made it.

Version 1 asks the table's connector whenever its plan runs, so that a connector that learns to take more changes what
stored plans write. It also asks without the options of hints, by which the planner goes.
"""

from __future__ import annotations

from typing import Any

from execnodes.connectors import sink_changelog_mode
from execnodes.core.changelog import ChangelogMode, RowKind
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType
from execnodes.stream.sink.v1 import LENGTH_ENFORCER, NOT_NULL_ENFORCER
from execnodes.stream.sink.v1 import Sink as Version1


@exec_node_metadata(
    name="stream-exec-sink",
    version=2,
    consumed_options=[
        NOT_NULL_ENFORCER,
        LENGTH_ENFORCER,
        "table.exec.sink.upsert-materialize",
        "table.exec.uid.format",
    ],
    produced_operators=["constraint-validator", "upsert-materializer", "sink"],
    min_plan_version="1.3",
    min_state_version="1.0",
)
class Sink(Version1):
    """Writes rows into a table, after a look at what the table's columns demand."""

    accepted_changelog_mode: ChangelogMode | None = None
    """Kinds of row that the table takes; without -U it finds rows by its primary key. None: nobody knew the table when
    the plan was migrated, and its connector is asked, as by version 1."""

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """As version 1, and all kinds that arrive are taken; -U alone may be left out."""
        super().check(inputs)
        if self.accepted_changelog_mode is None:
            return
        refused = self.input_changelog_mode.without(RowKind.UPDATE_BEFORE) - self.accepted_changelog_mode
        if refused:
            raise self.fail(
                f"{self.dynamic_table_sink.table.name} takes {self.accepted_changelog_mode}, but its input gives "
                f"{self.input_changelog_mode}"
            )

    def _leaves_traces(self) -> bool:
        if self.accepted_changelog_mode is None:
            return super()._leaves_traces()
        table = self.dynamic_table_sink.table.resolved_table
        if self.input_changelog_mode.insert_only or table is None or table.table_schema.primary_key is None:
            return False
        by_key = not self.accepted_changelog_mode.retract
        return by_key and set(self._primary_key()) != set(self.input_upsert_key or ())

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """What version 1 would be told if it ran now; unknown where the table's options are in a catalog alone."""
        table = old["dynamicTableSink"]["table"].get("resolvedTable") or {}
        options = table.get("options")
        if options is None:
            return old
        given = ChangelogMode.parse(old["inputChangelogMode"])
        accepted = sink_changelog_mode(options, table["schema"].get("primaryKey") is not None, given)
        return old if accepted is None else {**old, "acceptedChangelogMode": str(accepted)}
