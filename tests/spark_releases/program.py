"""A pipeline with every kind of state, that PySpark 4.1 and 4.2 take a savepoint of."""

from __future__ import annotations

from pathlib import Path

from rekindle.testing import RestoreProgram, lines

FIXTURES = Path(__file__).with_name("fixtures")
PYSPARKS = ("4.1", "4.2")
"""Besides the one the tests run with."""


def _events(*rows: str) -> str:
    return lines("customer item amount ts", *rows).replace("T00:", " 00:")


# Several streams, of which some end by event time: with PySpark 4.1 they are told apart by their order.
SHOP = RestoreProgram(
    "shop",
    """
CREATE TABLE orders (customer STRING, item STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/orders', 'format' = 'json');
CREATE TABLE customers (name STRING, city STRING)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/customers', 'format' = 'json');
CREATE TABLE numbers (id BIGINT, k INT)
  WITH ('connector' = 'datagen', 'number-of-rows' = '${rows}', 'rows-per-second' = '0', 'fields.id.kind' = 'sequence',
    'fields.id.start' = '1', 'fields.id.end' = '1000', 'fields.k.min' = '0', 'fields.k.max' = '3');
""",
    {
        "totals": "SELECT customer, COUNT(*) AS n, SUM(amount) AS s, MAX(item) AS m, COUNT(DISTINCT item) AS d "
        "FROM orders GROUP BY customer",
        "minutes": "SELECT window_start, customer, SUM(amount) AS s FROM "
        "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, customer",
        "cities": "SELECT o.customer, o.amount, c.city "
        "FROM orders AS o LEFT JOIN customers AS c ON o.customer = c.name",
        "latest": "SELECT customer, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts DESC) "
        "AS n FROM orders) WHERE n = 1",
        "generated": "SELECT k, COUNT(*) AS c, SUM(id) AS s FROM numbers GROUP BY k",
        "constants": "SELECT k, COUNT(*) AS c FROM (VALUES ('a'), ('b'), ('a')) AS x (k) GROUP BY k",
    },
    {
        "orders/0.json": _events(
            '"ann" "tea" 3 "2024-03-31T00:00:10"', '"bob" "rice" 5 "2024-03-31T00:00:40"',
            '"ann" "rice" 7 "2024-03-31T00:01:20"', 'null "tea" 1 "2024-03-31T00:01:30"',
        ),
        "customers/0.json": lines("name city", '"ann" "Rome"', '"cat" "Oslo"'),
    },
    {
        "orders/1.json": _events(
            '"ann" "tea" 2 "2024-03-31T00:01:40"', '"cat" "milk" 4 "2024-03-31T00:02:20"',
            '"bob" "tea" 6 "2024-03-31T00:03:00"', 'null "tea" 8 "2024-03-31T00:03:10"',
        ),
        "customers/1.json": lines("name city", '"bob" "Bonn"'),
    },
    numbers=(300, 500),
)  # fmt: skip
