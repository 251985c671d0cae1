"""Tables that are of another kind than when the plan was made are refused, not read or written wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import execnodes.connectors
from execnodes.core.changelog import INSERT_ONLY, RETRACT, UPSERT, ChangelogMode
from execnodes.core.connectors import ConnectorDeclaration, SinkAbilities, SourceAbilities, Takes
from execnodes.core.errors import PlanError
from execnodes.core.options import Configuration
from execnodes.core.tables import TableReference
from execnodes.core.types import INT, Field, row
from execnodes.stream.table_source_scan import TableSourceScan
from rekindle.connectors import registry
from rekindle.connectors.base import SinkConnector, SinkRequest, SinkWriter, SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.options import TableOption
from rekindle.pipeline.connector_requests import Requests
from tests.connectors.helpers import table

TYPE = row(Field("a", INT))


class Box(SourceConnector, SinkConnector):
    """A table without Spark; an option says what comes."""

    declaration: ClassVar = ConnectorDeclaration("box", SourceAbilities(), SinkAbilities(Takes.INSERTS, Takes.UPSERTS))

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        return (TableOption("columns", "text", "c0", "What a frame has."),)

    def read(self, spark: Any, request: SourceRequest) -> SourceFrame:
        columns = self.opened(request.table, "source", request.name).text("columns").split()
        frame: Any = SimpleNamespace(columns=columns)
        return SourceFrame(frame, True)

    def writer(self, spark: Any, request: SinkRequest) -> SinkWriter:
        made: Any = request.changelog
        return made  # type: ignore[no-any-return]  # no writer is needed here


@pytest.fixture(autouse=True)
def _box() -> Iterator[None]:
    registry.register(Box)
    yield
    registry._registered.clear()
    execnodes.connectors._declared.clear()


def requests(tmp_path: Path) -> Requests:
    spark: Any = None
    return Requests(spark, Configuration(), tmp_path, {})


def reference(columns: str = "c0", *key: str) -> TableReference:
    made = table({"a": "INT NOT NULL"}, {"connector": "box", "columns": columns}, key)
    return TableReference(identifier=("c", "d", "t"), resolved_table=made)


def scan(mode: ChangelogMode) -> TableSourceScan:
    given = {"id": 1, "output_type": TYPE, "description": "", "changelog_mode": mode}
    return TableSourceScan.model_validate({**given, "scan_table_source": {"table": {"identifier": ("c", "d", "t")}}})


@pytest.mark.parametrize(
    ("mode", "columns", "message"),
    [
        (INSERT_ONLY, "c0", ""),
        (RETRACT, "c0 rk_kind", ""),
        (INSERT_ONLY, "c0 rk_kind", "a table c.d.t that gives I, but its connector gives changes"),
        (RETRACT, "c0", "a table c.d.t that gives I,UB,UA,D, but its connector gives only inserts"),
    ],
)
def test_sources(mode: ChangelogMode, columns: str, message: str, tmp_path: Path) -> None:
    made = requests(tmp_path)
    if not message:
        assert made.read(scan(mode), reference(columns), TYPE).bounded
        return
    with pytest.raises(PlanError, match=f"(?s)node 1 .*{message}.*compile the statement again"):
        made.read(scan(mode), reference(columns), TYPE)


def test_sinks(tmp_path: Path) -> None:
    made, node = requests(tmp_path), scan(INSERT_ONLY)
    made.writer(node, reference(), "job", INSERT_ONLY)
    made.writer(node, reference("c0", "a"), "job", UPSERT)
    made.writer(node, reference("c0", "a"), "job", RETRACT)
    with pytest.raises(PlanError, match=r"that takes I,UA,D, but its connector takes only inserts"):
        made.writer(node, reference(), "job", UPSERT)
