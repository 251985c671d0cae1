"""Where sources go on: what they make of a committed offset, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execnodes.core.errors import ConnectorError
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable, Schema
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.base import ProviderContext, SourceRequest
from rekindle.connectors.filesystem import Filesystem
from rekindle.connectors.spark import Spark, starting
from rekindle.pipeline.record import record

SCRIPT = """
CREATE TABLE t (v STRING) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
SELECT * FROM t;
"""


def test_files_that_were_read_until_the_offset(tmp_path: Path) -> None:
    logged = {"0.compact": [("a", 0)], "1": [("b c", 1)], "2": [("d", 2)], ".1.crc": []}
    for name, files in logged.items():
        lines = [json.dumps({"path": f"file:///in/{file.replace(' ', '%20')}", "batchId": n}) for file, n in files]
        (tmp_path / name).write_text("\n".join(["v1", *lines]) + "\n")
    found = Filesystem().position('{"logOffset":1}', tmp_path, '["/in/before"]')
    assert json.loads(found) == ["/in/a", "/in/b c", "/in/before"]


@pytest.mark.parametrize(
    ("given", "start", "expected"),
    [
        ({}, None, {}),
        ({"spark.start-option": "startingOffsets"}, None, {}),
        ({"spark.start-option": "startingOffsets"}, '{"t":{"0":7}}', {"startingOffsets": '{"t":{"0":7}}'}),
        ({}, '{"t":{"0":7}}', "cannot go on"),
    ],
)
def test_a_data_source_is_told_where_it_goes_on(
    given: dict[str, str], start: str | None, expected: dict[str, str] | str, tmp_path: Path
) -> None:
    options = {"connector": "spark", "spark.format": "kafka", **given}
    (source,) = record(TableEnvironment.create().compile_script(SCRIPT).graph).sources.values()
    table = ResolvedTable(table_schema=Schema(columns=()), options=options)
    request = SourceRequest(
        table, "t", (), "1_source", False, False, Configuration(), tmp_path, start,
        context=ProviderContext(source.node, set()),
    )  # fmt: skip
    checked = Spark().check(options, "source", "t")
    if isinstance(expected, dict):
        assert starting(checked, request) == expected
        return
    with pytest.raises(ConnectorError, match=expected) as raised:
        starting(checked, request)
    assert "--allow-drop-state 1_source:position" in str(raised.value)
