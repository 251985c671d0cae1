"""Top-N, LIMIT and ORDER BY in the middle of a stream."""

from tests.restore.program import RestoreProgram
from tests.restore.programs.aggregates import ACCOUNTS, CHANGES_AFTER, CHANGES_BEFORE
from tests.restore.programs.windows import AFTER, BEFORE, EVENTS, HOP, LATE, TUMBLE

_KEYED = "CREATE TABLE {} (k STRING, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');\n"
_UID = {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"}
_OPTIONS = {**_UID, "table.exec.rank.topn-cache-size": "100"}
_ROW = {**_UID, "table.exec.lateness.granularity": "row"}
_WINDOWED = {**_ROW, "table.local-time-zone": "Europe/Berlin"}


def top(n: str, order: str, columns: str = "k, v, s", table: str = "t", partition: str = "PARTITION BY k ") -> str:
    """The rows whose row number is in the range."""
    return (
        f"SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER ({partition}ORDER BY {order}) AS rn FROM {table}) "
        f"WHERE rn {n}"
    )


_COUNTS = "(SELECT k, COUNT(*) AS c FROM t GROUP BY k)"
_SUMS = "(SELECT s, SUM(v) AS c FROM t GROUP BY s)"
ADDED = RestoreProgram(
    "stream-exec-rank_1", "added", EVENTS,
    {
        "plain": top("<= 2", "v DESC"),
        "numbered": top("<= 2", "v DESC, s", "k, v, s, rn"),
        "one": top("= 1", "s DESC, v"),
        "part": top("BETWEEN 2 AND 3", "v", "k, v, rn", partition=""),
        "by_column": top("<= m", "v DESC", "k, v, rn", "(SELECT *, v - v / 2 * 2 + 1 AS m FROM t)"),
    },
    BEFORE, AFTER, _OPTIONS,
)  # fmt: skip
REPLACED = RestoreProgram(
    "stream-exec-rank_1", "updated", f"{EVENTS}{_KEYED.format('plain')}{_KEYED.format('numbered')}",
    {
        "plain": top("<= 2", "c DESC", "k, c", _COUNTS, ""),
        "numbered": f"SELECT k, rn FROM ({top('<= 2', 'c DESC, k', 'k, rn', _COUNTS, '')})",
        "taken_back": top("<= 2", "c, s", "s, c, rn", _SUMS, ""),
    },
    BEFORE, AFTER,
)  # fmt: skip
TAKEN_BACK = RestoreProgram(
    "stream-exec-rank_1", "taken_back", ACCOUNTS,
    {"plain": top("<= 2", "v DESC", "id, k, v", "a"), "one": top("= 1", "n", "k, v", "a")},
    CHANGES_BEFORE, CHANGES_AFTER,
)  # fmt: skip
BEST = RestoreProgram(
    "stream-exec-sort-limit_1", "added", EVENTS,
    {
        "plain": "SELECT k, v FROM t ORDER BY v DESC LIMIT 2",
        "part": "SELECT k, v, s FROM t ORDER BY s, v DESC LIMIT 2 OFFSET 1",
    },
    BEFORE, AFTER, _OPTIONS,
)  # fmt: skip
BEST_TAKEN_BACK = RestoreProgram(
    "stream-exec-sort-limit_1", "taken_back", ACCOUNTS,
    {
        "plain": "SELECT id, k FROM a ORDER BY v LIMIT 2",
        "sums": "SELECT k, SUM(v) AS s FROM a GROUP BY k ORDER BY s LIMIT 1",
    },
    CHANGES_BEFORE, CHANGES_AFTER,
)  # fmt: skip
FIRST = RestoreProgram(
    "stream-exec-limit_1", "added", EVENTS,
    {"plain": "SELECT k, v FROM t LIMIT 7", "part": "SELECT k FROM t LIMIT 3 OFFSET 5"}, BEFORE, AFTER, _OPTIONS,
)  # fmt: skip
FIRST_TAKEN_BACK = RestoreProgram(
    "stream-exec-limit_1", "taken_back", ACCOUNTS, {"plain": "SELECT id, k FROM a LIMIT 2"},
    CHANGES_BEFORE, CHANGES_AFTER,
)  # fmt: skip
SORTED = RestoreProgram(
    "stream-exec-temporal-sort_1", "event_time", EVENTS,
    {"plain": "SELECT k, v, ts FROM t ORDER BY ts", "more": "SELECT k, v, ts FROM t ORDER BY ts, v DESC"},
    BEFORE, LATE, _ROW,
)  # fmt: skip
AT_END = RestoreProgram(
    "stream-exec-sort_1", "added_and_taken_back", EVENTS,
    {
        "plain": "SELECT k, v, s FROM t ORDER BY v DESC, s",
        "sums": "SELECT s, SUM(v) AS c FROM t GROUP BY s ORDER BY c DESC NULLS LAST, s",
    },
    BEFORE, AFTER, {**_UID, "__table.exec.sort.non-temporal.enabled__": "true"},
)  # fmt: skip
_WINDOW = "PARTITION BY window_start, window_end "
IN_WINDOWS = RestoreProgram(
    "stream-exec-window-rank_1", "shapes", EVENTS,
    {
        "tumble": top("<= 2", "v DESC", "k, v, window_end, rn", f"TABLE({TUMBLE})", _WINDOW),
        "hop": top("= 1", "s", "k, v, window_end", f"TABLE({HOP})", f"{_WINDOW}, k "),
        "sums": top(
            "<= 1", "c, k", "window_end, k, c",
            f"(SELECT k, window_start, window_end, SUM(v) AS c FROM TABLE({TUMBLE}) "
            "GROUP BY k, window_start, window_end)", _WINDOW,
        ),
    },
    BEFORE, LATE, _WINDOWED,
)  # fmt: skip
ONE_IN_WINDOWS = RestoreProgram(
    "stream-exec-window-deduplicate_1", "event_time", EVENTS,
    {
        "first": top("= 1", "ts", "k, v, window_end", f"TABLE({TUMBLE})", f"{_WINDOW}, k "),
        "last": top("= 1", "ts DESC", "k, v, window_end", f"TABLE({TUMBLE})", _WINDOW),
    },
    BEFORE, LATE, _WINDOWED,
)  # fmt: skip
