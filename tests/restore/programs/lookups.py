"""Groups over rows that were looked up: what is joined is kept by nobody, so that only the groups go on."""

from tests.restore.program import RestoreProgram, changes, lines

TABLES = """
CREATE TABLE c (id INT NOT NULL, k BIGINT, v INT, pt AS PROCTIME(), PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/c', 'format' = 'debezium-json');
CREATE TABLE d (id BIGINT, name STRING, v INT)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/d', 'format' = 'json', 'lookup.cache' = 'FULL');
"""
_TABLE = {"d/0.json": lines("id name v", '1 "one" 1', '2 "two" 2', '2 "zwei" 3', "0 null 4", 'null "none" 5')}
"""Read anew by the job that goes on: it is no source whose position is kept."""
_NAMED = "SELECT d.name, COUNT(*) AS n, SUM(c.v) AS s FROM c {} JOIN d FOR SYSTEM_TIME AS OF c.pt ON {} GROUP BY d.name"
GROUPS = RestoreProgram(
    "stream-exec-lookup-join_1", "groups", TABLES,
    {
        "found": _NAMED.format("INNER", "c.k = d.id"),
        "padded": _NAMED.format("LEFT", "MOD(c.k, 3) = d.id AND d.v > 1 AND c.v < d.v * 10"),
    },
    {
        "c/0.json": changes("id k v", "+ 1 1 5", "+ 2 2 7", "+ 3 null 9", "+ 4 5 11", "= 2 2 7 -> 2 1 8"),
        **_TABLE,
    },
    {"c/1.json": changes("id k v", "- 1 1 5", "+ 5 2 13", "= 4 5 11 -> 4 3 12", "+ 6 1 90"), **_TABLE},
    {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
