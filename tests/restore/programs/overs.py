"""OVER that is cut while rows wait for the watermark and frames reach back across the cut."""

from tests.restore.program import RestoreProgram, changes, lines
from tests.restore.programs.functions import FUNCTIONS
from tests.restore.programs.windows import AFTER, BEFORE, EVENTS

_NODE = "stream-exec-over-aggregate_1"
_KEYED = "PARTITION BY k ORDER BY ts"
_EVENT_TIME = {
    "range": f"SELECT k, v, SUM(v) OVER ({_KEYED}) AS s, COUNT(DISTINCT s) OVER ({_KEYED}) AS d, "
    f"LAG(v, 2, -1) OVER ({_KEYED}) AS p FROM t",
    "rows_back": f"SELECT k, v, SUM(v) OVER w AS s, MIN(s) OVER w AS m, COUNT(DISTINCT s) OVER w AS d "
    f"FROM t WINDOW w AS ({_KEYED} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "time_back": "SELECT k, v, AVG(v) OVER w AS s, LISTAGG(s) OVER w AS l "
    "FROM t WINDOW w AS (ORDER BY ts RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND CURRENT ROW)",
    "collected": "SELECT k, v, COLLECT(s) OVER (ORDER BY ts) AS c, RANK() OVER (ORDER BY ts) AS r FROM t",
}
BY_EVENT_TIME = RestoreProgram(_NODE, "event_time", EVENTS, _EVENT_TIME, BEFORE, AFTER)
AGED = RestoreProgram(
    _NODE, "ttl", EVENTS, {name: _EVENT_TIME[name] for name in ("range", "rows_back")}, BEFORE, AFTER,
    {"table.exec.state.ttl": "36500 d", "table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
_TABLES = """
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE a (id INT NOT NULL, k STRING, v DECIMAL(30, 2), PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/a', 'format' = 'debezium-json');
CREATE TABLE p (k STRING, v BIGINT, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = '${dir}/p', 'format' = 'json');
"""
BY_OTHER_ORDERS = RestoreProgram(
    _NODE, "other_orders", _TABLES,
    {
        "column": "SELECT id, k, SUM(v) OVER (PARTITION BY k ORDER BY v) AS s FROM a",
        "arrival": "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY pt) AS s, MAX(v) OVER (PARTITION BY k "
        "ORDER BY pt) AS m FROM p",
        "arrival_back": "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY pt ROWS BETWEEN 1 PRECEDING AND CURRENT "
        "ROW) AS s FROM p",
    },
    {
        "a/0.json": changes("id k v", '+ 1 "a" 1.25', '+ 2 "a" 2.50', '+ 3 "b" 1', '+ 4 "a" 0.5'),
        "p/0.json": lines("k v", '"a" 1', '"b" 2', '"a" 3'),
    },
    {
        "a/1.json": changes("id k v", '= 2 "a" 2.50 -> 2 "a" 0.75', '- 4 "a" 0.5', '+ 5 "b" 0.5'),
        "p/1.json": lines("k v", '"a" 4', '"b" 5', '"c" 6'),
    },
)  # fmt: skip
PYTHON_BY_EVENT_TIME = RestoreProgram(
    _NODE, "python_event_time", FUNCTIONS + EVENTS,
    {
        "range": f"SELECT k, v, WMEAN(v, 2) OVER ({_KEYED}) AS m, LAST_TWO(DISTINCT s) OVER ({_KEYED}) AS l, "
        f"COUNT(*) OVER ({_KEYED}) AS c FROM t",
        "rows_back": f"SELECT k, v, LAST_TWO(s) OVER w AS l, SUM(v) OVER w AS s "
        f"FROM t WINDOW w AS ({_KEYED} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "time_back": "SELECT k, v, WMEAN(v, v) OVER w AS m "
        "FROM t WINDOW w AS (ORDER BY ts RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND CURRENT ROW)",
    },
    BEFORE, AFTER,
)  # fmt: skip
PYTHON_BY_OTHER_ORDERS = RestoreProgram(
    _NODE, "python_other_orders", FUNCTIONS + _TABLES,
    {
        "column": "SELECT id, k, WMEAN(CAST(v AS BIGINT), 1) OVER (PARTITION BY k ORDER BY v) AS m FROM a",
        "arrival": "SELECT k, v, WMEAN(v, 1) OVER (PARTITION BY k ORDER BY pt) AS m FROM p",
    },
    BY_OTHER_ORDERS.before, BY_OTHER_ORDERS.after,
    {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
