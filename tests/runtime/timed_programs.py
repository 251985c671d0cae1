"""A program for each operator that waits for event time, over rows of which a condition drops those that move it."""

from __future__ import annotations

from dataclasses import dataclass, field

TABLE = """
CREATE TABLE t (k STRING, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
"""
SINK = "CREATE TABLE o ({}) WITH ('connector' = 'print');"
ROWS = (
    '"a" 1 "kept" "2024-01-01 12:00:01"',
    '"a" 2 "kept" "2024-01-01 12:00:03"',
    '"b" 7 "dropped" "2024-01-01 12:05:00"',
)
"""Of t: what the first two give is due when the last one has come."""
_WINDOW = "TABLE({}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


@dataclass(frozen=True)
class TimedProgram:
    """A query over the kept rows of `TABLE`."""

    operator: str
    """Name of the class that waits."""
    query: str
    rows: tuple[tuple[object, ...], ...]
    """What it has given once the watermark is past the kept rows; the input has not ended."""
    options: dict[str, str] = field(default_factory=dict)
    sink: str = ""
    """Columns, where the query's type is not enough."""

    def __str__(self) -> str:
        return f"{self.operator}-{len(self.query)}"


def _windowed(select: str, window: str = "TUMBLE(TABLE t", group: str = "k, window_start, window_end") -> str:
    return f"SELECT {select} FROM {_WINDOW.format(window)} WHERE s = 'kept' GROUP BY {group}"


_ONE_PHASE = {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}
_KEPT = "SELECT * FROM t WHERE s = 'kept'"
_TUMBLE = _WINDOW.format("TUMBLE(TABLE t")
_FIRST = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS rn FROM {}) WHERE rn = 1"

PROGRAMS = (
    TimedProgram("GlobalWindowAggregateOperator", _windowed("k, SUM(v)"), (("a", 3),)),
    TimedProgram("WindowAggregateOperator", _windowed("k, SUM(v)"), (("a", 3),), _ONE_PHASE),
    TimedProgram("SessionOperator", _windowed("k, SUM(v)", "SESSION(TABLE t PARTITION BY k"), (("a", 3),)),
    TimedProgram(
        "GroupWindowAggregateOperator",
        "SELECT k, SUM(v) FROM t WHERE s = 'kept' GROUP BY k, HOP(ts, INTERVAL '7' SECOND, INTERVAL '10' SECOND)",
        (("a", 1), ("a", 3)),
    ),
    TimedProgram(
        "OverByTime", "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM t WHERE s = 'kept'", (("a", 1), ("a", 3))
    ),
    TimedProgram("KeepFirstByTime", _FIRST.format("k", "ts", f"({_KEPT})"), (("a", 1),)),
    TimedProgram("SortByTime", "SELECT k, v FROM t WHERE s = 'kept' ORDER BY ts", (("a", 1), ("a", 2))),
    TimedProgram(
        "WindowTopN",
        _FIRST.format("window_start, window_end", "v DESC", f"(SELECT * FROM {_TUMBLE} WHERE s = 'kept')"),
        (("a", 2),),
    ),
    TimedProgram(
        "WindowTopN",
        _FIRST.format("window_start, window_end", "ts DESC", f"(SELECT * FROM {_TUMBLE} WHERE s = 'kept')"),
        (("a", 2),),
    ),
    TimedProgram(
        "ConflictResolver",
        f"{_KEPT} ON CONFLICT DO NOTHING",
        (("a", 1),),
        sink="k STRING, v INT, s STRING, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED",
    ),
)
