"""A program for each operator that waits for event time, over rows of which a condition drops those that move it."""

from __future__ import annotations

from dataclasses import dataclass, field

TABLE = """
CREATE TABLE t (k STRING, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
CREATE VIEW kept AS SELECT * FROM t WHERE s = 'kept';
CREATE VIEW newest AS SELECT k, v, ts FROM
  (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM kept) WHERE rn = 1;
"""
SINK = "CREATE TABLE o ({}) WITH ('connector' = 'blackhole');"
_VALUES = (
    '"a", "v": 1, "s": "kept", "ts": "2024-01-01 12:00:01"',
    '"a", "v": 2, "s": "kept", "ts": "2024-01-01 12:00:03"',
    '"b", "v": 7, "s": "dropped", "ts": "2024-01-01 12:05:00"',
)
ROWS = "".join(f'{{"k": {each}}}\n' for each in _VALUES)
"""Of t: what the others give is due when the last one has come, and not before."""
TIMELESS = '{"k": "a", "v": 4, "s": "timeless"}\n'
LATE_ROW = '{"k": "a", "v": 9, "s": "kept", "ts": "2024-01-01 12:00:00"}\n'
"""In the next micro-batch; the dropped row makes it late."""
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
    more: str = ""
    """Rows with the first ones."""
    sink: str = ""
    """Columns, where the query's type is not enough."""

    def __str__(self) -> str:
        return f"{self.operator}-{len(self.query)}"


def _windowed(select: str, window: str = "TUMBLE(TABLE t", group: str = "k, window_start, window_end") -> str:
    return f"SELECT {select} FROM {_WINDOW.format(window)} WHERE s = 'kept' GROUP BY {group}"


_ONE_PHASE, _TWO_PHASES = ({"table.optimizer.agg-phase-strategy": each} for each in ("ONE_PHASE", "TWO_PHASE"))
_KEPT = "SELECT * FROM t WHERE s = 'kept'"
_TUMBLE = _WINDOW.format("TUMBLE(TABLE t")
_FIRST = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS rn FROM {}) WHERE rn = 1"
_AS_OF = "SELECT l.v, r.v FROM {} AS l JOIN newest FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k"

PROGRAMS = (
    TimedProgram("GlobalWindowAggregateOperator", _windowed("k, SUM(v)"), (("a", 3),), _TWO_PHASES),
    TimedProgram("WindowAggregateOperator", _windowed("k, SUM(v)"), (("a", 3),), _ONE_PHASE),
    TimedProgram("SessionAggregateOperator", _windowed("k, SUM(v)", "SESSION(TABLE t PARTITION BY k"), (("a", 3),)),
    TimedProgram(
        "GivenSessionsOperator",
        _windowed("s, SUM(v)", "SESSION(TABLE kept PARTITION BY k", "s, window_start, window_end"),
        (("kept", 3),),
    ),
    TimedProgram(
        "GroupWindowAggregateOperator",
        "SELECT k, SUM(v) FROM t WHERE s = 'kept' GROUP BY k, HOP(ts, INTERVAL '7' SECOND, INTERVAL '10' SECOND)",
        (("a", 3), ("a", 3)),
    ),
    TimedProgram(
        "OverByTime", "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM t WHERE s = 'kept'", (("a", 1), ("a", 3))
    ),
    TimedProgram(
        "OverByRange",
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW)"
        " FROM t WHERE s = 'kept'",
        (("a", 1), ("a", 2)),
    ),
    TimedProgram(
        "SessionRowsOperator",
        f"SELECT k, v, window_end FROM {_WINDOW.format('SESSION(TABLE kept PARTITION BY k')}",
        (("a", 1), ("a", 2)),
    ),
    TimedProgram("KeepFirstByTime", _FIRST.format("k", "ts", f"({_KEPT})"), (("a", 1),)),
    TimedProgram("SortByTime", "SELECT k, v FROM t WHERE s = 'kept' ORDER BY ts", (("a", 1), ("a", 2))),
    TimedProgram(
        "WindowTopN",
        _FIRST.format("window_start, window_end", "v DESC", f"(SELECT * FROM {_TUMBLE} WHERE s = 'kept')"),
        (("a", 2),),
    ),
    TimedProgram(
        "OneOfWindow",
        _FIRST.format("window_start, window_end", "ts DESC", f"(SELECT * FROM {_TUMBLE} WHERE s = 'kept')"),
        (("a", 2),),
    ),
    TimedProgram(
        "WindowJoinOperator",
        f"SELECT l.v, r.v FROM {_TUMBLE} AS l JOIN {_TUMBLE} AS r ON l.k = r.k AND l.window_start = r.window_start "
        "AND l.window_end = r.window_end WHERE l.s = 'kept' AND r.s = 'kept' AND l.v < r.v",
        ((1, 2),),
    ),
    TimedProgram(
        "IntervalJoinOperator",
        "SELECT l.v, r.v FROM kept AS l LEFT JOIN kept AS r "
        "ON l.k = r.k AND r.ts BETWEEN l.ts + INTERVAL '1' SECOND AND l.ts + INTERVAL '5' SECOND",
        # The late row meets none that is still there, and is not waited for.
        ((1, 2), (2, None), (9, None)),
    ),
    TimedProgram(
        "MatchOperator",
        "SELECT a, b FROM kept MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a, B.v AS b "
        "PATTERN (A B) DEFINE B AS B.v > A.v)",
        ((1, 2),),
    ),
    TimedProgram("TemporalJoinOperator", _AS_OF.format("kept"), ((1, 1), (2, 2))),
    TimedProgram("TemporalJoinOfUpdates", _AS_OF.format("newest"), ((2, 2),)),
    TimedProgram(
        "ConflictResolver",
        "SELECT k, COUNT(*) AS c FROM t WHERE s = 'timeless' GROUP BY k ON CONFLICT DO NOTHING",
        (("a", 1),),
        more=TIMELESS,
        sink="k STRING, c BIGINT NOT NULL, PRIMARY KEY (c) NOT ENFORCED",
    ),
)
