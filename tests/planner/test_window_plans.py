"""Which nodes windows become: sessions found by the aggregate or read, slices, windows of old that are updated."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import RekindleError, SqlError
from execnodes.core.graph import ExecGraph
from plans.format.codec import encode
from tests.planner.test_lower_programs import compile_program

AUTO = "SET 'table.optimizer.agg-phase-strategy' = 'AUTO';"
TABLE = """
CREATE TABLE t (k STRING, s STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE out (c BIGINT) WITH ('connector' = 'print');
"""
SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
HOP = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
BY = "GROUP BY window_start, window_end"
READ = ["window-table-function_2", "window-aggregate_2"]


def graph(folder: Path, query: str, options: str = "") -> ExecGraph:
    (folder / "program.sql").write_text(f"{AUTO}{options}{TABLE}INSERT INTO out {query};", encoding="utf-8")
    return compile_program(folder)[-1]


def windows(folder: Path, query: str, options: str = "") -> list[str]:
    keys = [str(node.key).removeprefix("stream-exec-") for node in graph(folder, query, options).nodes]
    return [key for key in keys if "window" in key]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT COUNT(*) FROM {SESSION} {BY}, k", ["window-aggregate_2"]),
        (f"SELECT COUNT(*) FROM {SESSION} WHERE k <> 'a' {BY}, k", ["window-aggregate_2"]),
        (f"SELECT COUNT(*) FROM {SESSION} {BY}", READ),
        (f"SELECT COUNT(*) FROM {SESSION} {BY}, k, s", READ),
        (f"SELECT COUNT(*) FROM {SESSION} {BY}, UPPER(k)", READ),
        (f"SELECT COUNT(*) FROM {SESSION} WHERE v > 0 {BY}, k", ["window-aggregate_2"]),
        (f"SELECT COUNT(*) FROM {SESSION} WHERE v > 0 AND window_start < window_end {BY}, k", READ),
        (f"SELECT COUNT(*) FROM {SESSION} {BY}, GROUPING SETS ((k), ())", READ),
        ("SELECT COUNT(*) FROM t GROUP BY SESSION(ts, INTERVAL '5' SECOND), UPPER(k)", ["window-aggregate_2"]),
        (
            "SELECT CHAR_LENGTH(UPPER(k)) + COUNT(*) FROM t GROUP BY UPPER(k), SESSION(ts, INTERVAL '5' SECOND)",
            ["window-aggregate_2"],
        ),
        (f"SELECT COUNT(*) FROM {HOP} {BY}, k", ["window-aggregate_2"]),
        (f"SELECT COUNT(DISTINCT v) FROM {HOP} {BY}, k", ["window-aggregate_2"]),
        (f"SELECT COUNT(*) FROM {HOP.replace('10', '5')} {BY}, k", ["window-aggregate_2"]),
        (
            "SELECT COUNT(*) FROM t GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '2' SECOND)",
            ["group-window-aggregate_1"],
        ),
        ("SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)", ["window-aggregate_2"]),
    ],
)
def test_nodes(query: str, expected: list[str], tmp_path: Path) -> None:
    assert windows(tmp_path, query) == expected


@pytest.mark.parametrize(("calls", "folded"), [("COUNT(*)", True), ("COUNT(DISTINCT v)", False)])
def test_slices_are_asked_for(tmp_path: Path, calls: str, folded: bool) -> None:
    """They keep other state, so that a query that runs could not go on if it were compiled again."""
    two = "SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE';"
    found = windows(tmp_path, f"SELECT {calls} FROM {HOP} {BY}, k", two)
    assert found == (["local-window-aggregate_1", "global-window-aggregate_1"] if folded else ["window-aggregate_2"])


LATE = "SET 'table.exec.emit.allow-lateness' = '1 s';"
EARLY = "SET 'table.exec.emit.early-fire.enabled' = 'true';"
OLD = "SELECT COUNT(*) FROM t GROUP BY {}(ts, INTERVAL '5' SECOND)"


def test_windows_that_are_updated(tmp_path: Path) -> None:
    (node,) = (each for each in graph(tmp_path, OLD.format("TUMBLE"), LATE).nodes if "group-window" in str(each.key))
    assert not node.changelog_mode.insert_only
    assert windows(tmp_path, f"SELECT COUNT(*) FROM {HOP.replace('10', '5')} {BY}, k", LATE) == ["window-aggregate_2"]


def test_sessions_take_no_late_rows(tmp_path: Path) -> None:
    """As in Flink, which leaves an allowed lateness unused for them: a script may set it for its other windows."""
    assert windows(tmp_path, OLD.format("SESSION"), LATE) == ["window-aggregate_2"]


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (OLD.format("SESSION"), EARLY, "SESSION windows are given once"),
        (OLD.format("TUMBLE"), "SET 'table.exec.emit.late-fire.enabled' = 'true';", "late fire needs an allowed late"),
    ],
)
def test_refusals(query: str, options: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(RekindleError, match=rf"line \d+, column \d+: {message}"):
        graph(tmp_path, query, options)


GROUPS = "(SELECT DISTINCT k, ts FROM t)"


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("TUMBLE", GROUPS),
        ("SESSION", "(SELECT k, ts FROM t GROUP BY k, ts HAVING COUNT(*) > 1)"),
        ("TUMBLE", "(SELECT k, ts FROM t UNION SELECT s, ts FROM t)"),
        ("TUMBLE", "(SELECT k, ts FROM t EXCEPT SELECT k, ts FROM t WHERE v > 2)"),
    ],
)
def test_windows_of_old_go_by_times_that_rows_were_grouped_by(name: str, rows: str, tmp_path: Path) -> None:
    query = OLD.format(name).replace("FROM t", f"FROM {rows}")
    (found,) = (each for each in windows(tmp_path, query) if "aggregate" in each)
    assert found in ("window-aggregate_2", "group-window-aggregate_1")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"SELECT COUNT(*) FROM TABLE(TUMBLE({GROUPS}, DESCRIPTOR(ts), INTERVAL '5' SECOND)) {BY}", "time attribute"),
        (OLD.format("TUMBLE").replace("FROM t", "FROM (SELECT MAX(ts) AS ts FROM t)"), "time attribute"),
        (
            "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS ((TUMBLE(ts, INTERVAL '5' SECOND)), (k))",
            "TUMBLE in GROUPING SETS, CUBE or ROLLUP is not supported",
        ),
        (
            "SELECT COUNT(*) FROM t GROUP BY SESSION(ts, INTERVAL '5' SECOND), ROLLUP (k)",
            "SESSION beside GROUPING SETS is not supported",
        ),
    ],
)
def test_windows_that_flink_refuses_too(query: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        windows(tmp_path, query)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("function", "given", "same"),
    [("HOP", 12, 2), ("HOP", -7, 3), ("HOP", 7, 2), ("CUMULATE", 12, 2), ("CUMULATE", -23, 7)],
)
def test_offsets_longer_than_a_cycle_are_those_within_it(tmp_path: Path, function: str, given: int, same: int) -> None:
    """As Flink takes them of HOP and CUMULATE; that of TUMBLE it refuses."""
    window = (
        f"TABLE({function}(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND, INTERVAL '{{}}' SECOND))"
    )
    plans = [encode(graph(tmp_path, f"SELECT COUNT(*) FROM {window.format(each)} {BY}")) for each in (given, same)]
    assert plans[0] == plans[1]
    tumble = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '12' SECOND))"
    with pytest.raises(SqlError, match="the offset of TUMBLE, 12000 ms, must be less than 10000 ms"):
        graph(tmp_path, f"SELECT COUNT(*) FROM {tumble} {BY}")
