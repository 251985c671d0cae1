"""Options and secrets, without Spark."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from execnodes.core.errors import ConnectorError, OptionError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.registry import find_sink, find_source, identifiers, validate
from rekindle.connectors.secret_references import resolve_secrets

FILES = {"connector": "filesystem", "path": "/x", "format": "json"}
COMMIT = "sink.partition-commit."
COMMITTED = {**FILES, f"{COMMIT}policy.kind": "success-file"}


def test_connectors_are_found_by_walking() -> None:
    both = {"filesystem", "duckdb", "spark"}
    assert set(identifiers("source")) == {*both, "nexmark", "datagen", "data-stream"}
    assert set(identifiers("sink")) == {*both, "print", "blackhole", "collect"}
    assert all(find_source(name).identifier == name for name in identifiers("source"))
    assert all(find_sink(name).identifier == name for name in identifiers("sink"))


@pytest.mark.parametrize("name", identifiers())
def test_every_option_is_described(name: str) -> None:
    role = "source" if name in identifiers("source") else "sink"
    connector = find_source(name) if role == "source" else find_sink(name)
    declared = connector.declared({"connector": name, "format": "csv"})
    assert all(option.description.endswith(".") for option in declared)
    assert len({option.key for option in declared}) == len(declared)


@pytest.mark.parametrize(
    ("options", "role", "message"),
    [
        ({"connector": "filesytem"}, "source", "unknown connector 'filesytem'\n  Did you mean filesystem?"),
        ({}, "sink", "table t: the table has no 'connector' option"),
        ({"connector": "print"}, "source", "connector 'print' cannot be used as a source"),
        ({**FILES, "format": "jsn"}, "source", "unknown format 'jsn'\n  Did you mean json?"),
        ({**FILES, "format": "avro"}, "source", "'connector' = 'spark', 'spark.format' = 'avro'"),
        ({"connector": "filesystem", "path": "x"}, "source", "the table has no 'format' option"),
        ({**FILES, "pth": "y"}, "source", "table t: unknown option 'pth'\n  Did you mean path?"),
        ({**FILES, "csv.field-delimiter": "|"}, "source", "unknown option 'csv.field-delimiter'"),
        ({**FILES, "json.ignore-parse-errors": "yes"}, "source", "json.ignore-parse-errors: 'yes' is not a value"),
        ({"connector": "filesystem", "format": "json"}, "sink", "option 'path' is missing"),
        ({**FILES, "source.monitor-interval": "often"}, "source", "'often' is not a duration"),
        (
            {**FILES, COMMIT + "policy.kind": "success-file,metastore"},
            "sink",
            "policy.kind: 'metastore' is not supported",
        ),
        ({**COMMITTED, COMMIT + "success-file.name": "done"}, "sink", "'done' would be read as a file of rows"),
        ({**FILES, "sink.rolling-policy.check-interval": "often"}, "sink", "'often' is not a duration"),
        ({**FILES, "scan.watermark.emit.strategy": "x"}, "source", "Write one of on-event, on-periodic"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], role: str, message: str) -> None:
    with pytest.raises((OptionError, ConnectorError)) as raised:
        validate(options, role, "t")
    assert message in str(raised.value)


def test_options_of_flink_that_change_nothing_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    options = {
        "scan.watermark.idle-timeout": "1 min",
        "sink.rolling-policy.file-size": "1 gb",
        "compaction.parallelism": "2",
    }
    with caplog.at_level(logging.WARNING, logger="rekindle.options"):
        for _ in range(2):
            validate({**FILES, **options, f"{COMMIT}trigger": "partition-time"}, "sink", "inert_once")
    said = [record.getMessage() for record in caplog.records]
    assert [each.split(" has no effect")[0] for each in said] == [f"table inert_once: option {key}" for key in options]
    assert "SET 'table.exec.source.idle-timeout'" in said[0]


def test_intervals_of_files_have_an_effect_where_files_are_compacted(caplog: pytest.LogCaptureFixture) -> None:
    options = {
        "auto-compaction": "true",
        "sink.rolling-policy.rollover-interval": "1 min",
        "compaction.file-size": "1 mb",
    }
    with caplog.at_level(logging.WARNING, logger="rekindle.options"):
        validate({**FILES, **options}, "sink", "compacted")
    assert caplog.records == []


EVENTS = """
CREATE TABLE events (
  event_type INT,
  person ROW<id BIGINT, emailAddress VARCHAR, creditCard VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR>,
  auction ROW<itemName VARCHAR, description VARCHAR, initialBid BIGINT, `dateTime` TIMESTAMP(3), expires TIMESTAMP(3)>,
  bid ROW<auction BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime` TIMESTAMP(3), extra VARCHAR>,
  `dateTime` AS CASE event_type WHEN 0 THEN person.`dateTime` WHEN 1 THEN auction.`dateTime` ELSE bid.`dateTime` END,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'first-event.rate' = '1000', 'next-event.rate' = '1000', 'rate.limited' = 'true',
  'bid.hot-ratio.auctions' = '2', 'keep-alive' = 'false', 'events.num' = '100')
"""


def test_the_benchmarks_own_declaration_of_nexmark_is_taken() -> None:
    environment = TableEnvironment.create()
    environment.execute_sql(EVENTS)
    environment.compile_plan_sql("SELECT bid.auction, bid.price, `dateTime` FROM events WHERE event_type = 2")
    environment.execute_sql(EVENTS.replace("TABLE events", "TABLE faster").replace("'1000', 'rate", "'2000', 'rate"))
    with pytest.raises(ConnectorError, match=r"next-event\.rate is 2000, first-event\.rate 1000"):
        environment.compile_plan_sql("SELECT bid.auction FROM faster")


def test_validation_imports_no_spark() -> None:
    code = (
        "import sys; from rekindle.connectors.registry import validate; "
        f"validate({FILES!r}, 'source', 't'); "
        "print([m for m in ('pyspark', 'pyarrow', 'polars', 'duckdb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_secrets_are_resolved_when_a_connector_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REKINDLE_TEST_SECRET", "s3cret")
    (tmp_path / "key").write_text("abc\n", encoding="utf-8")
    options = {
        "password": "${env:REKINDLE_TEST_SECRET}",
        "url": f"u=${{env:REKINDLE_TEST_SECRET}};k=${{file:{tmp_path}/key}}",
    }
    assert resolve_secrets(options) == {"password": "s3cret", "url": "u=s3cret;k=abc"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("${env:REKINDLE_NOT_SET}", "environment variable REKINDLE_NOT_SET, which is not set"),
        ("${file:/nowhere/key}", "file /nowhere/key, which cannot be read"),
    ],
)
def test_missing_secrets_are_named(value: str, message: str) -> None:
    with pytest.raises(ConnectorError, match=message):
        resolve_secrets({"password": value}, "t")
