"""GROUP BY with aggregate functions written in Python, beside those of the system, over results of a scalar one."""

from tests.restore.program import RestoreProgram
from tests.restore.programs.aggregates import ACCOUNTS, AFTER, BEFORE, CHANGES_AFTER, CHANGES_BEFORE, EVENTS

FUNCTIONS = "".join(
    f"CREATE FUNCTION {name} AS 'tests.restore.functions:{function}' LANGUAGE PYTHON;\n"
    for name, function in {"shout": "shout", "wmean": "WeightedMean", "last_two": "LastTwo", "texts": "Texts"}.items()
)
SERIALIZED = "".join(
    f"CREATE FUNCTION {name} AS 'tests.restore.functions:{name.capitalize()}' LANGUAGE PYTHON;\n"
    for name in ("longest", "tally")
)
MEAN = "WMEAN(v, n) AS wm, WMEAN(v, n) FILTER (WHERE n > 2) AS wf"

ADDED = RestoreProgram(
    "stream-exec-python-group-aggregate_1", "added", FUNCTIONS + EVENTS,
    {
        "mixed": f"SELECT k, COUNT(*) AS c, {MEAN}, MIN(v) AS mv, LAST_TWO(SHOUT(s)) AS lt FROM t GROUP BY k",
        "no_key": "SELECT TEXTS(s) AS ts, LAST_TWO(k) AS lt FROM t",
    },
    BEFORE, AFTER,
)  # fmt: skip
TAKEN_BACK = RestoreProgram(
    "stream-exec-python-group-aggregate_1", "taken_back", FUNCTIONS + ACCOUNTS,
    {
        "mixed": f"SELECT k, COUNT(DISTINCT v) AS dv, {MEAN}, MAX(v) AS xv FROM a GROUP BY k",
        "no_key": "SELECT WMEAN(v, n) AS wm FROM a",
    },
    CHANGES_BEFORE, CHANGES_AFTER,
)  # fmt: skip
AGED = RestoreProgram(
    "stream-exec-python-group-aggregate_1", "ttl", FUNCTIONS + EVENTS,
    {"mixed": f"SELECT k, {MEAN}, LAST_TWO(s) AS lt FROM t GROUP BY k"},
    BEFORE, AFTER, {"table.exec.state.ttl": "36500 d", "table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
_MERGING = "CREATE FUNCTION merging AS 'tests.restore.functions:MergingMean' LANGUAGE PYTHON;\n"
_MERGED = "MERGING(v, n) AS wm, MERGING(v, n) FILTER (WHERE n > 2) AS wf"
FOLDED = RestoreProgram(
    "stream-exec-python-group-aggregate_2", "merging", FUNCTIONS + _MERGING + EVENTS,
    {
        "folded": f"SELECT k, COUNT(*) AS c, {_MERGED}, MIN(v) AS mv FROM t GROUP BY k",
        "no_key": "SELECT MERGING(v, n) AS wm FROM t",
        "in_order": f"SELECT k, {MEAN}, LAST_TWO(s) AS lt FROM t GROUP BY k",
    },
    BEFORE, AFTER, {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
DISTINCT = RestoreProgram(
    "stream-exec-python-group-aggregate_3", "distinct", FUNCTIONS + EVENTS,
    {
        "once": "SELECT k, COUNT(DISTINCT s) AS c, WMEAN(DISTINCT v, n) AS wm, WMEAN(DISTINCT v, n) FILTER "
        "(WHERE n > 2) AS wf, LAST_TWO(s) AS lt FROM t GROUP BY k",
        "no_key": "SELECT LAST_TWO(DISTINCT k) AS lt FROM t",
    },
    BEFORE, AFTER,
)  # fmt: skip
DISTINCT_TAKEN_BACK = RestoreProgram(
    "stream-exec-python-group-aggregate_3", "distinct_taken_back", FUNCTIONS + ACCOUNTS,
    {"once": "SELECT k, WMEAN(DISTINCT v, n) AS wm, WMEAN(v, n) AS wn FROM a GROUP BY k"},
    CHANGES_BEFORE, CHANGES_AFTER, {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
SERIALIZERS = RestoreProgram(
    "stream-exec-python-group-aggregate_1", "serializers", SERIALIZED + EVENTS,
    {
        "mixed": "SELECT k, LONGEST(s) AS ls, COUNT(*) AS c, TALLY(s) FILTER (WHERE n > 0) AS ta FROM t GROUP BY k",
        "no_key": "SELECT LONGEST(k) AS lk FROM t",
    },
    BEFORE, AFTER,
)  # fmt: skip
