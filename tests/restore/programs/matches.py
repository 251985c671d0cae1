"""MATCH_RECOGNIZE: rows that wait, matches that have begun, and such that run out of time."""

from tests.restore.program import RestoreProgram, lines

_ROWS = "id k v s ts"
TABLE = """
CREATE TABLE q (id INT, k STRING, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/q', 'format' = 'json');
"""


def _rows(*rows: str) -> str:
    """Rows whose last value is a second."""
    made = []
    for row in rows:
        head, _, second = row.rpartition(" ")
        made.append(f'{head} "2024-01-01T00:00:{int(second):02d}"')
    return lines(_ROWS, *made).replace("T00:00", " 00:00")


BEFORE = {
    "q/0.json": _rows(
        '1 "a" 5 "x" 1', '2 "a" 4 "y" 2', '3 "b" 7 "x" 3', '4 "a" 6 null 4', '5 null 3 "x" 4', '6 "b" null "y" 6',
        '7 "a" 3 "x" 8', '8 "a" 2 "y" 9', '9 "b" 6 "y" 12', '10 null 4 "y" 13', '11 "a" 1 "x" 21', '12 "b" 5 "x" 20',
        '13 "a" 9 "z" 24',
    ),
}  # fmt: skip
AFTER = {
    "q/1.json": _rows(
        '14 "b" 8 "y" 23', '15 "a" 8 "x" 22', '16 null 5 "x" 26', '17 "a" 7 "y" 27', '18 "b" 2 "x" 28',
        '19 "a" 12 null 29', '20 "b" 9 "z" 40', '21 "a" 4 "x" 41', '22 null 9 "y" 44',
    ),
}  # fmt: skip


def matched(measures: str, pattern: str, define: str, after: str = "", keys: str = "PARTITION BY k") -> str:
    """Matches of the rows of q."""
    skip = after and f"AFTER MATCH SKIP {after} "
    inner = f"{keys} ORDER BY ts, id DESC MEASURES {measures} {skip}PATTERN {pattern} DEFINE {define}"
    return f"SELECT * FROM q MATCH_RECOGNIZE ({inner}) AS m"


_FALL = "F AS F.v < S.v AND (LAST(F.v, 1) IS NULL OR F.v < LAST(F.v, 1)), R AS R.v > LAST(F.v)"
SHAPES = RestoreProgram(
    "stream-exec-match_1", "shapes", TABLE,
    {
        "falls": matched("S.id AS a, LAST(F.id) AS b, R.id AS c, COUNT(F.v) AS n", "(S F+ R)", _FALL, "PAST LAST ROW"),
        "overlapping": matched("S.id AS a, LAST(F.id) AS b, R.id AS c", "(S F*? R)", "R AS R.v > S.v", "TO NEXT ROW"),
        "in_time": matched(
            "A.id AS a, SUM(B.v) AS s, C.id AS c", "(A B*? C) WITHIN INTERVAL '9' SECOND",
            "C AS C.v > 5 AND C.s <> A.s", "PAST LAST ROW",
        ),
        "without_keys": matched(
            "FIRST(A.id) AS a, B.id AS b, UPPER(LAST(A.s)) AS s", "(A{2} B)", "B AS B.v > AVG(A.v)", "TO LAST A",
            keys="",
        ),
        "counts": "SELECT k, COUNT(*) AS n, SUM(b) AS s FROM ("
        f"{matched('A.id AS a, B.id AS b', '(A B)', 'B AS CHAR_LENGTH(B.s) = 1 AND B.v > A.v')}) GROUP BY k",
        "windows": "SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(("
        f"{matched('MATCH_ROWTIME() AS rt, A.id AS a', '(A B)', 'B AS B.v <> A.v')}), "
        "DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
    },
    BEFORE, AFTER, {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
