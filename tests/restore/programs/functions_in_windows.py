"""Windows with aggregate functions written in Python that are open when the savepoint is taken."""

from tests.restore.program import RestoreProgram
from tests.restore.programs.functions import FUNCTIONS
from tests.restore.programs.windows import AFTER, BEFORE, CUMULATE, EVENTS, HOP, LATE, over

_CALLS = "WMEAN(v, v) AS wm, LAST_TWO(s) FILTER (WHERE v > 1) AS lt, SUM(v) AS sv"
_SESSION = "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)"
SHAPES = RestoreProgram(
    "stream-exec-window-aggregate_2", "python", FUNCTIONS + EVENTS,
    {
        "cumulate": over(CUMULATE, _CALLS),
        "hop": over(HOP, "LAST_TWO(s) AS lt", ""),
        "session": over(_SESSION, _CALLS),
        "session_all": over(_SESSION, "WMEAN(v, v) AS wm", ""),
    },
    BEFORE, AFTER,
)  # fmt: skip
_LATENESS = {"table.exec.emit.allow-lateness": "5 s"}
OF_OLD = RestoreProgram(
    "stream-exec-group-window-aggregate_1", "python", FUNCTIONS + EVENTS,
    {"late": f"SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS b, {_CALLS} FROM t "
     "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"},
    BEFORE, LATE, _LATENESS,
)  # fmt: skip
