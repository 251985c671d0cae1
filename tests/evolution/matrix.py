"""Changes of queries, and what becomes of the state: the table of docs/query-evolution.md, and what tests run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("changes.toml")
TABLES = """
CREATE TABLE t (k STRING, k2 STRING, v BIGINT, w BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
CREATE TABLE r (k STRING, v BIGINT, w BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/r', 'format' = 'json');
CREATE TABLE x (k STRING, v BIGINT, w BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/x', 'format' = 'json');
CREATE TABLE cdc (k STRING, v BIGINT, w BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/cdc', 'format' = 'debezium-json');
CREATE TABLE late (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/late', 'format' = 'json');
CREATE VIEW both_of_them AS SELECT k, v, ts FROM t UNION ALL SELECT k, v, ts FROM late;
CREATE TABLE o1 (k STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE o2 (k STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE o3 (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '${dir}/o3.duckdb', 'table' = 'o3');
"""


@dataclass(frozen=True)
class Change:
    """A query, what it is changed to, and what that does."""

    name: str
    """``group: what changes``."""
    old: str
    new: str
    verdict: str
    fates: tuple[str, ...]
    """Of positions and states in the order in which they are judged: ``keep source``, ``convert group-aggregate``."""
    reason: str = ""
    """Part of what is said of one of them."""


def changes() -> tuple[Change, ...]:
    """All there are, in the order of the file."""
    found = tomllib.loads(FILE.read_text(encoding="utf-8"))["change"]
    return tuple(Change(**{**each, "fates": tuple(each["fates"])}) for each in found)


CHANGES = changes()


def both(*inserts: str) -> str:
    """A statement set."""
    return f"EXECUTE STATEMENT SET BEGIN {' '.join(f'INSERT INTO {each};' for each in inserts)} END"
