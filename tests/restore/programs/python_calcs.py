"""Groups by what functions written in Python give, also by one that waits."""

from tests.restore.program import RestoreProgram
from tests.restore.programs.aggregates import AFTER, BEFORE, EVENTS

_FUNCTIONS = "".join(
    f"CREATE FUNCTION {name} AS 'tests.restore.functions:{name}' LANGUAGE PYTHON;\n" for name in ("shout", "asked")
)
CALLED = RestoreProgram(
    "stream-exec-python-calc_1", "called", _FUNCTIONS + EVENTS,
    {
        "by_call": "SELECT SHOUT(s) AS ss, COUNT(*) AS c, SUM(v) AS sv FROM t GROUP BY SHOUT(s)",
        "some": "SELECT k, COUNT(*) AS c FROM t WHERE SHOUT(k) <> 'B!' GROUP BY k",
    },
    BEFORE, AFTER, {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
AWAITED = RestoreProgram(
    "stream-exec-python-async-calc_1", "awaited", _FUNCTIONS + EVENTS,
    {
        "by_call": "SELECT ASKED(n) AS a, COUNT(*) AS c, SUM(v) AS sv FROM t GROUP BY ASKED(n)",
        "some": "SELECT k, MAX(SHOUT(s)) AS m FROM t WHERE ASKED(n) > 0 GROUP BY k",
    },
    BEFORE, AFTER,
    {
        "table.local-time-zone": "Europe/Berlin",
        "table.exec.async-scalar.max-concurrent-operations": "3",
        "table.exec.async-scalar.timeout": "20 s",
        "table.exec.async-scalar.retry-strategy": "NO_RETRY",
        "table.exec.async-scalar.retry-delay": "10 ms",
        "table.exec.async-scalar.max-attempts": "2",
    },
)  # fmt: skip
