"""Members of collections in groups: rows that are taken back take their members with them."""

from tests.restore.program import RestoreProgram, changes

BAGS = """
CREATE TABLE b (id INT NOT NULL, xs ARRAY<INT>, m MAP<STRING, INT>, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/b', 'format' = 'debezium-json');
"""
_BEFORE = {
    "b/0.json": changes(
        "id xs m",
        '+ 1 [1,2,2] {"a":1}',
        '+ 2 [] {"a":2}',
        '+ 3 null {"b":3}',
        '+ 4 [4,null] {"a":4,"b":5}',
        '= 1 [1,2,2] {"a":1} -> 1 [2,3] {"a":1,"c":1}',
    )
}
_AFTER = {
    "b/1.json": changes(
        "id xs m",
        '- 4 [4,null] {"a":4,"b":5}',
        '= 2 [] {"a":2} -> 2 [2] {"a":2}',
        '+ 5 [5,1] {"c":1,"b":2}',
        '= 1 [2,3] {"a":1,"c":1} -> 1 null {"a":1}',
    )
}
MEMBERS = RestoreProgram(
    "stream-exec-correlate_1", "members", BAGS,
    {
        "places": "SELECT x, COUNT(*) AS c, SUM(i) AS si FROM b "
        "LEFT JOIN UNNEST(xs) WITH ORDINALITY AS u (x, i) ON TRUE GROUP BY x",
        "pairs": "SELECT k, SUM(x * v) AS s FROM b CROSS JOIN UNNEST(ARRAY_REVERSE(xs)) AS u (x) "
        "CROSS JOIN UNNEST(m) AS w (k, v) GROUP BY k",
    },
    _BEFORE, _AFTER, {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
WANTED = RestoreProgram(
    "stream-exec-correlate_2", "wanted", BAGS,
    {
        "greater": "SELECT x, COUNT(*) AS c, SUM(id) AS s FROM b LEFT JOIN UNNEST(xs) AS u (x) ON x > 1 GROUP BY x",
        "own": "SELECT id, COUNT(k) AS c FROM b LEFT JOIN UNNEST(m) AS w (k, v) ON v >= id GROUP BY id",
        "whole": "SELECT x, MAX(id) AS m FROM b CROSS JOIN UNNEST(ARRAY_REVERSE(xs)) AS u (x) GROUP BY x",
    },
    _BEFORE, _AFTER, {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
