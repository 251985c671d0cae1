"""Which changes connectors give and take."""

from __future__ import annotations

import pytest

from execnodes.connectors import sink_changelog_mode, source_changelog_mode
from execnodes.core.changelog import INSERT_ONLY, RETRACT, ChangelogMode


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({"connector": "filesystem", "format": "json"}, "I"),
        ({"connector": "filesystem", "format": "parquet"}, "I"),
        ({"connector": "filesystem", "format": "debezium-json"}, "I,UB,UA,D"),
        ({"connector": "filesystem", "format": "canal-json"}, "I,UB,UA,D"),
        ({"connector": "nexmark", "format": "debezium-json"}, "I"),
        ({"connector": "print"}, "I"),
        ({"connector": "no-such-thing", "format": "debezium-json"}, "I"),
        ({"connector": "nexmark"}, "I"),
        ({"connector": "datagen"}, "I"),
    ],
)
def test_sources(options: dict[str, str], mode: str) -> None:
    assert str(source_changelog_mode(options)) == mode


@pytest.mark.parametrize(
    ("options", "key", "requested", "expected"),
    [
        ({"connector": "print"}, False, "I,UB,UA,D", "I,UB,UA,D"),
        ({"connector": "blackhole"}, False, "I,UB,UA,D", "I,UA,D"),
        ({"connector": "filesystem", "format": "json"}, False, "I", "I"),
        ({"connector": "filesystem", "format": "json"}, True, "I,UB,UA", None),
        ({"connector": "filesystem", "format": "debezium-json"}, False, "I,UB,UA", "I,UB,UA"),
        ({"connector": "duckdb"}, True, "I,UB,UA,D", "I,UA,D"),
        ({"connector": "duckdb"}, False, "I,UB,UA,D", "I,UB,UA,D"),
        ({"connector": "duckdb"}, True, "I", "I"),
        ({"connector": "spark", "format": "csv"}, False, "I,UB,UA", None),
    ],
)
def test_sinks(options: dict[str, str], key: bool, requested: str, expected: str | None) -> None:
    mode = sink_changelog_mode(options, key, ChangelogMode.parse(requested))
    assert (None if mode is None else str(mode)) == expected


def test_modes_are_told_apart() -> None:
    assert source_changelog_mode({}) == INSERT_ONLY
    assert RETRACT.retract
