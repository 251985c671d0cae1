"""What a hint says to write is accepted: each refused statement beside one that its hint leads to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from execnodes.connectors import own_connectors, own_formats
from execnodes.core.errors import RekindleError
from execnodes.core.options import find
from execnodes.functions.foreign import OF_OTHERS
from execnodes.functions.resolving import known
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.app import app_of
from rekindle.cli.commands import COMMANDS
from tests.completeness.tree import sources, tree

TABLES = """
CREATE TABLE t (k STRING, v INT, d DOUBLE, s STRING, l ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = 'json');
CREATE TABLE u (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/u', 'format' = 'json');
CREATE TABLE files (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/nowhere/o', 'format' = '{format}');
CREATE TABLE base (k STRING, n BIGINT{key})
  WITH ('connector' = 'duckdb', 'path' = '/nowhere/o.duckdb', 'table' = 'o');
"""
COUNT = "INSERT INTO {} SELECT k, COUNT(*) FROM t GROUP BY k"
NEWEST = "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM u) WHERE n = 1"


def compiled(query: str, format: str = "json", key: str = "") -> None:
    TableEnvironment.create().compile_script(TABLES.format(format=format, key=key) + query)


@pytest.mark.parametrize(
    ("refused", "hint", "accepted"),
    [
        (
            "SELECT t.k FROM t JOIN u FOR SYSTEM_TIME AS OF t.ts AS r ON t.k = r.k",
            "ROW_NUMBER() OVER",
            f"CREATE VIEW newest AS {NEWEST}; "
            "SELECT t.k, r.v FROM t JOIN newest FOR SYSTEM_TIME AS OF t.ts AS r ON t.k = r.k",
        ),
        (
            "CREATE VIEW some AS SELECT * FROM u WHERE v > 2; "
            "SELECT t.k FROM t JOIN some FOR SYSTEM_TIME AS OF t.ts AS r ON t.k = r.k",
            "into ON or WHERE of the join",
            f"CREATE VIEW newest AS {NEWEST}; "
            "SELECT t.k FROM t JOIN newest FOR SYSTEM_TIME AS OF t.ts AS r ON t.k = r.k WHERE r.v > 2",
        ),
        (
            "SELECT t.k FROM t JOIN u ON t.k = u.k AND t.ts BETWEEN u.ts - INTERVAL '1' MONTH AND u.ts",
            "INTERVAL '31' DAY",
            "SELECT t.k FROM t JOIN u ON t.k = u.k AND t.ts BETWEEN u.ts - INTERVAL '31' DAY AND u.ts",
        ),
        (
            "SELECT 1 FROM (SELECT k, PROCTIME() AS p FROM t) AS t JOIN (SELECT k, PROCTIME() AS p FROM u) AS u "
            "ON t.k = u.k AND t.p BETWEEN u.p - INTERVAL '1' HOUR AND u.p",
            "CAST one time attribute to TIMESTAMP(3)",
            "SELECT 1 FROM (SELECT k, PROCTIME() AS p FROM t) AS t "
            "JOIN (SELECT k, CAST(PROCTIME() AS TIMESTAMP(3)) AS p FROM u) AS u "
            "ON t.k = u.k AND t.p BETWEEN u.p - INTERVAL '1' HOUR AND u.p",
        ),
        (
            "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES PREV(A.v) AS p PATTERN (A) DEFINE A AS A.v > 1)",
            "LAST(variable.column, 1)",
            "SELECT * FROM t MATCH_RECOGNIZE "
            "(ORDER BY ts MEASURES LAST(A.v, 1) AS p PATTERN (A{2}) DEFINE A AS A.v > 1)",
        ),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND)) MATCH_RECOGNIZE (PATTERN (A))",
            "(SELECT * FROM …) MATCH_RECOGNIZE (…)",
            "SELECT * FROM (SELECT * FROM t) MATCH_RECOGNIZE "
            "(ORDER BY ts MEASURES A.v AS p PATTERN (A) DEFINE A AS A.v > 1)",
        ),
        ("SELECT * FROM t TABLESAMPLE (10)", "WHERE RAND() < 0.1", "SELECT * FROM t WHERE RAND() < 0.1"),
        (
            "SELECT * FROM t PIVOT (SUM(v) FOR s IN ('a'))",
            "FILTER (WHERE name = 'a')",
            "SELECT k, SUM(v) FILTER (WHERE s = 'a') AS a FROM t GROUP BY k",
        ),
        ("SELECT * FROM t UNPIVOT (v FOR n IN (v))", "UNION ALL", "SELECT v FROM t UNION ALL SELECT v FROM u"),
        ("SELECT DATE_TRUNC('hour', ts) FROM t", "FLOOR(time TO HOUR)", "SELECT FLOOR(ts TO HOUR) FROM t"),
        ("SELECT DATE_TRUNC('month', ts) FROM t", "FLOOR(time TO MONTH)", "SELECT FLOOR(ts TO MONTH) FROM t"),
        ("SELECT DATE_TRUNC(s, ts) FROM t", "FLOOR(time TO DAY)", "SELECT FLOOR(ts TO DAY) FROM t"),
        ('SELECT "k" FROM t', "backticks", "SELECT `k` FROM t"),
    ],
)
def test_what_a_hint_says_compiles(refused: str, hint: str, accepted: str) -> None:
    with pytest.raises(RekindleError) as caught:
        compiled(refused)
    assert hint in (caught.value.hint or "")
    compiled(accepted)


def test_a_sink_that_takes_no_updates() -> None:
    with pytest.raises(RekindleError, match="inserts only") as caught:
        compiled(COUNT.format("files"))
    hint = caught.value.hint or ""
    (format,) = re.findall(r"'format' = '([\w-]+)'", hint)
    assert "'duckdb'" in hint
    compiled(COUNT.format("files"), format=format)
    compiled(COUNT.format("base"), key=", PRIMARY KEY (k) NOT ENFORCED")


def test_double_quotes_are_named_as_what_they_are() -> None:
    with pytest.raises(RekindleError, match="double quotes are not quotes in Flink's SQL"):
        compiled('SELECT "k" FROM t')


def test_a_connector_of_spark_is_named_with_its_option_and_package() -> None:
    with pytest.raises(RekindleError) as caught:
        compiled("CREATE TABLE k (a INT) WITH ('connector' = 'kafka'); SELECT * FROM k")
    hint = caught.value.hint or ""
    assert "'spark.format' = 'kafka'" in hint
    assert "spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:" in hint
    compiled("CREATE TABLE k (a INT) WITH ('connector' = 'spark', 'spark.format' = 'kafka'); SELECT * FROM k")


_CALL = re.compile(r"\b([A-Z][A-Z_]+)\(")
_AGGREGATES = {"LISTAGG", "PERCENTILE", "COUNT", "ARRAY_AGG", "COLLECT", "FIRST_VALUE", "LAST_VALUE", "MAX"}
_WINDOWS = {"TUMBLE", "HOP", "SESSION"}
_SYNTAX = {"UNNEST", "FLOOR", "TIMESTAMPADD", "TIMESTAMPDIFF", "COALESCE", "DESCRIPTOR", "JSON_VALUE", *_WINDOWS}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_functions_that_hints_name_are_there(name: str) -> None:
    for called in _CALL.findall(OF_OTHERS[name]):
        if called not in _AGGREGATES | _SYNTAX:
            known(called)


def hints() -> Iterator[str]:
    """Texts of all hints in the sources."""
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                constants = (each for each in ast.walk(node.value) if isinstance(each, ast.Constant))
                yield from (each.value for each in constants if isinstance(each.value, str))


def test_options_that_hints_name_are_there() -> None:
    quoted = {key for hint in hints() for key in re.findall(r"SET '([a-z][\w-]*(?:\.[\w-]+)+)'", hint)}
    assert quoted
    for key in quoted:
        find(key)


def test_flags_that_hints_name_are_there() -> None:
    import typer.main

    group = typer.main.get_command(app_of(COMMANDS))
    flags: set[str] = set()
    left = [group]
    while left:
        command = left.pop()
        flags.update(flag for each in command.params for flag in (*each.opts, *each.secondary_opts))
        left += list(getattr(command, "commands", {}).values())
    named = {flag for hint in hints() for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", hint)}
    assert named - flags == set()


SETTING = re.compile(r"(?:SET|and) '([\w.-]+)' = '([\w.-]+)'")


@pytest.mark.parametrize(
    ("mode", "statement"),
    [
        ("streaming", "SELECT k FROM t ORDER BY v OFFSET 1"),
        ("streaming", "SELECT k FROM t ORDER BY v"),
        ("streaming", "SELECT k FROM t ORDER BY ts DESC"),
        ("streaming", "SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k"),
        ("streaming", "SELECT k FROM (SELECT *, RANK() OVER (PARTITION BY k ORDER BY v) AS n FROM t) WHERE n < 3"),
        ("streaming", "SELECT CUME_DIST() OVER (PARTITION BY k ORDER BY ts) FROM t"),
        ("streaming", "SELECT PERCENT_RANK() OVER (PARTITION BY k ORDER BY ts) FROM t"),
        ("streaming", "INSERT OVERWRITE files SELECT k, 1 FROM t"),
        ("batch", "SELECT CURRENT_WATERMARK(ts) FROM t"),
        ("batch", "CREATE TABLE c (a INT) WITH ('connector' = 'datagen'); SELECT * FROM c"),
        (
            "batch",
            "CREATE TABLE c (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'filesystem', "
            "'path' = '/nowhere/c', 'format' = 'debezium-json'); SELECT * FROM c",
        ),
    ],
)
def test_the_setting_that_a_hint_names_lets_the_statement_compile(mode: str, statement: str) -> None:
    script = TABLES.format(format="json", key="") + statement
    with pytest.raises(RekindleError) as caught:
        TableEnvironment.create({"execution.runtime-mode": mode}).compile_script(script)
    settings = SETTING.findall(caught.value.hint or "")
    assert settings
    TableEnvironment.create({"execution.runtime-mode": mode, **dict(settings)}).compile_script(script)


def test_settings_that_hints_name_have_values_that_are_taken() -> None:
    settings = {pair for hint in hints() for pair in SETTING.findall(hint)} - {("key", "value")}
    assert settings
    for key, value in settings:
        TableEnvironment.create().execute_sql(f"SET '{key}' = '{value}'")


def test_expressions_that_hints_write_compile() -> None:
    patterns = (
        r"INTERVAL '[^'{}]+' [A-Z]+(?: TO [A-Z]+)?",
        r"CAST\(… AS [A-Z][A-Z0-9()]*\)",
        r"(?:DATE|TIME|TIMESTAMP) '[^'{}]+'",
    )
    written = {found for hint in hints() for pattern in patterns for found in re.findall(pattern, hint)}
    assert len(written) > len(patterns)
    for expression in written:
        compiled(f"SELECT {expression.replace('…', 's')} FROM t")


def test_connectors_and_formats_that_hints_name_are_there() -> None:
    there = {"connector": {*own_connectors()}, "format": {*own_formats()}}
    named = {pair for hint in hints() for pair in re.findall(r"'(connector|format)' = '([a-z-]+)'", hint)}
    assert named
    assert {(kind, name) for kind, name in named if name not in there[kind]} == set()
