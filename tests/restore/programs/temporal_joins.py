"""Temporal joins of both kinds: rows that wait, versions ahead of the watermark and behind, rows to be taken back."""

from tests.restore.program import RestoreProgram, changes, lines

_TABLE = """
CREATE TABLE {} (id INT, k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND{})
  WITH ('connector' = 'filesystem', 'path' = '${{dir}}/{}', 'format' = '{}');
"""
TABLES = "".join((
    _TABLE.format("p", "", "p", "json"),
    _TABLE.format("r", ", PRIMARY KEY (k) NOT ENFORCED", "r", "json"),
    _TABLE.format("h", "", "r", "json"),
    _TABLE.format("c", ", PRIMARY KEY (k) NOT ENFORCED", "c", "debezium-json"),
    _TABLE.format("o", ", PRIMARY KEY (id) NOT ENFORCED", "o", "debezium-json"),
    "CREATE VIEW newest AS SELECT k, v, ts FROM "
    "(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM h) WHERE n = 1;",
))  # fmt: skip
_ROWS = "id k v ts"


def _at(second: int) -> str:
    return f'"2024-01-01T00:00:{second:02d}"'


def _timed(files: dict[str, str]) -> dict[str, str]:
    """Times as JSON has them in SQL's form; values of `lines` hold no blanks."""
    return {file: text.replace("T00:00", " 00:00") for file, text in files.items()}


BEFORE = {
    "p/0.json": lines(
        _ROWS, f'1 "a" 10 {_at(5)}', f'2 "b" 20 {_at(3)}', f"3 null 30 {_at(12)}", f'4 "a" 40 {_at(21)}',
        f'5 "b" 50 {_at(19)}', f'6 "c" 60 {_at(24)}',
    ),
    "r/0.json": lines(
        _ROWS, f'1 "a" 1 {_at(4)}', f'2 "b" 2 {_at(4)}', f'3 "a" 3 {_at(20)}', f'4 "a" 2 {_at(11)}',
        f'5 "b" 4 {_at(22)}',
    ),
    "c/0.json": changes(
        _ROWS, f'+ 1 "a" 1 {_at(4)}', f'+ 2 "b" 2 {_at(4)}', f'= 1 "a" 1 {_at(4)} -> 1 "a" 3 {_at(20)}',
        f'- 2 "b" 2 {_at(4)}', f'+ 3 "c" 5 {_at(22)}',
    ),
    "o/0.json": changes(
        _ROWS, f'+ 1 "a" 10 {_at(6)}', f'+ 2 "b" 20 {_at(7)}', f'= 1 "a" 10 {_at(6)} -> 1 "a" 11 {_at(18)}',
        f'+ 3 "a" 30 {_at(23)}', f'+ 4 "c" 40 {_at(9)}',
    ),
}  # fmt: skip
AFTER = {
    "p/1.json": lines(
        _ROWS, f'7 "c" 70 {_at(26)}', f'8 "a" 80 {_at(22)}', f'9 "b" 90 {_at(40)}', f'10 "a" 5 {_at(41)}'
    ),
    "r/1.json": lines(_ROWS, f'6 "c" 6 {_at(25)}', f'7 "a" 7 {_at(23)}', f'8 "b" 8 {_at(39)}', f'9 "c" 9 {_at(45)}'),
    "c/1.json": changes(
        _ROWS, f'= 1 "a" 3 {_at(20)} -> 1 "a" 7 {_at(23)}', f'- 3 "c" 5 {_at(22)}', f'+ 2 "b" 8 {_at(39)}',
        f'+ 4 "d" 9 {_at(45)}',
    ),
    "o/1.json": changes(
        _ROWS, f'- 2 "b" 20 {_at(7)}', f'= 3 "a" 30 {_at(23)} -> 3 "a" 31 {_at(24)}', f'- 4 "c" 40 {_at(9)}',
        f'= 1 "a" 11 {_at(18)} -> 1 "b" 12 {_at(40)}', f'+ 5 "c" 50 {_at(44)}',
    ),
}  # fmt: skip


def joined(left: str, kind: str, versions: str, condition: str = "") -> str:
    """Rows with the versions of their time."""
    return (
        f"SELECT l.id, l.k, l.v, x.v AS w, l.ts, x.ts AS since FROM {left} AS l {kind} {versions} "
        f"FOR SYSTEM_TIME AS OF l.ts AS x ON l.k = x.k{condition}"
    )


SHAPES = RestoreProgram(
    "stream-exec-temporal-join_1", "shapes", TABLES,
    {
        "inner_join": joined("p", "JOIN", "r"),
        "left_join": joined("p", "LEFT JOIN", "r", " AND l.v > x.v * 8"),
        "newest_rows": joined("p", "LEFT JOIN", "newest"),
        "nulls_match": joined("p", "LEFT JOIN", "newest").replace("l.k = x.k", "l.k IS NOT DISTINCT FROM x.k"),
        "changes": joined("p", "LEFT JOIN", "c"),
        "windows": "SELECT window_start, COUNT(*) AS c, SUM(w) AS s FROM TABLE(TUMBLE("
        f"({joined('p', 'LEFT JOIN', 'r')}), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
        "twice": "SELECT j.id, j.w, y.v AS z FROM "
        f"({joined('p', 'LEFT JOIN', 'r')}) AS j JOIN c FOR SYSTEM_TIME AS OF j.ts AS y ON j.k = y.k",
    },
    _timed(BEFORE), _timed(AFTER), {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
UPDATED = RestoreProgram(
    "stream-exec-temporal-join_1", "updated", TABLES,
    {
        "inner_join": joined("o", "JOIN", "r"),
        "left_join": joined("o", "LEFT JOIN", "c"),
        "counts": f"SELECT k, COUNT(*) AS n, SUM(w) AS s FROM ({joined('o', 'JOIN', 'newest')}) GROUP BY k",
    },
    _timed(BEFORE), _timed(AFTER), {"table.exec.state.ttl": "36500 d"},
)  # fmt: skip
