"""Rows that a table function written in Python makes, in groups: what is taken back takes them with it."""

from tests.restore.program import RestoreProgram, changes

TEXTS = """
CREATE FUNCTION words AS 'tests.restore.functions:words' LANGUAGE PYTHON;
CREATE FUNCTION countdown AS 'tests.restore.functions:Countdown' LANGUAGE PYTHON;
CREATE TABLE b (id INT NOT NULL, s STRING, n INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/b', 'format' = 'debezium-json');
"""
WORDS = RestoreProgram(
    "stream-exec-python-correlate_1", "words", TEXTS,
    {
        "lengths": "SELECT w, COUNT(*) AS c, SUM(l) AS sl FROM b LEFT JOIN LATERAL TABLE(words(s)) AS u (w, l) ON TRUE "
        "GROUP BY w",
        "numbers": "SELECT id, COUNT(*) AS c, SUM(x * l) AS s FROM b, LATERAL TABLE(words(s)) AS u (w, l), "
        "LATERAL TABLE(countdown(n)) AS v (x) GROUP BY id",
    },
    {
        "b/0.json": changes(
            "id s n",
            '+ 1 "a-bb-a" 2',
            '+ 2 null 3',
            '+ 3 "ccc" 0',
            '+ 4 "-" 1',
            '= 1 "a-bb-a" 2 -> 1 "bb-c" 3',
        )
    },
    {
        "b/1.json": changes(
            "id s n",
            '- 3 "ccc" 0',
            '= 2 null 3 -> 2 "a-c" 3',
            '+ 5 "a-a" null',
            '= 1 "bb-c" 3 -> 1 "bb" 1',
        )
    },
    {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
