"""The tables of random queries: rows that come, and what DuckDB has in them when all have come."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import duckdb

Row = dict[str, Any]
MINUTES = 12
"""By how much a row may come later than one of a later time."""
COLUMNS = "id BIGINT, k STRING, v BIGINT, w BIGINT"
TABLES = f"""
CREATE TABLE t ({COLUMNS}, d DECIMAL(10, 2), tags ARRAY<BIGINT>, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '{MINUTES}' MINUTE)
  WITH ('connector' = 'filesystem', 'path' = '${{dir}}/input/t.jsonl', 'format' = 'json');
CREATE TABLE tie ({COLUMNS}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '{MINUTES}' MINUTE)
  WITH ('connector' = 'filesystem', 'path' = '${{dir}}/input/tie.jsonl', 'format' = 'json');
CREATE TABLE r ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '${{dir}}/input/r.jsonl', 'format' = 'json');
CREATE TABLE cdc ({COLUMNS})
  WITH ('connector' = 'filesystem', 'path' = '${{dir}}/input/cdc.jsonl', 'format' = 'debezium-json');
"""
_START = datetime(2024, 2, 28, 23, 0)


def rows(random: Random, number: int) -> dict[str, list[Row]]:
    """What comes into each table, in its order: `t` has a time of its own for each row, `tie` has not, none is late."""
    several = [_row(random, at) for at in range(number)]
    unique = sorted(random.sample(range(number * 4), number))
    for row, minute in zip(several, unique, strict=True):
        row |= {"d": random.choice((None, "0.05", "-1.50", "7.00", "100.25")), "ts": _time(minute)}
        row["tags"] = random.choice((None, [], [1], [2, None], [3, 1, 3]))
    ties = [_row(random, at) | {"ts": _time(random.randrange(number) // 3 * 3)} for at in range(number)]
    return {
        "t": _jumbled(random, several),
        "tie": _jumbled(random, ties),
        "r": [_row(random, 1000 + at) for at in range(number // 2)],
        "cdc": _changes(random, number),
    }


def write(folder: Path, tables: dict[str, list[Row]]) -> None:
    """The files of the tables."""
    (folder / "input").mkdir(parents=True)
    for table, lines in tables.items():
        text = "".join(json.dumps(each) + "\n" for each in lines)
        (folder / "input" / f"{table}.jsonl").write_text(text, encoding="utf-8")


def judge(tables: dict[str, list[Row]]) -> duckdb.DuckDBPyConnection:
    """DuckDB with the tables as they are in the end."""
    made = duckdb.connect()
    types = "id BIGINT, k VARCHAR, v BIGINT, w BIGINT"
    more = {"t": ", d DECIMAL(10, 2), ts TIMESTAMP, tags BIGINT[]", "tie": ", ts TIMESTAMP"}
    for table, lines in tables.items():
        made.execute(f"CREATE TABLE {table} ({types}{more.get(table, '')})")
        for row in _left(lines) if table == "cdc" else lines:
            marks = ", ".join("?" for _ in row)
            made.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    return made


def _row(random: Random, id: int) -> Row:
    value = random.choice((None, 0, 1, 2, 3, -4))
    return {"id": id, "k": random.choice(("a", "b", "c", None)), "v": value, "w": random.randint(0, 4)}


def _time(minute: int) -> str:
    return (_START + timedelta(minutes=minute)).isoformat(" ")


def _jumbled(random: Random, lines: list[Row]) -> list[Row]:
    """No row comes more than `MINUTES` after one of a later time."""
    return sorted(
        lines, key=lambda row: datetime.fromisoformat(row["ts"]) + timedelta(minutes=random.random() * (MINUTES - 1))
    )


def _changes(random: Random, number: int) -> list[Row]:
    there: list[Row] = []
    found: list[Row] = []
    for at in range(number):
        kind = random.choice("ccud") if there else "c"
        before = None if kind == "c" else there.pop(random.randrange(len(there)))
        after = None if kind == "d" else _row(random, at if before is None else before["id"])
        there += [] if after is None else [after]
        found.append({"before": before, "after": after, "op": kind})
    return found


def _left(changes: list[Row]) -> list[Row]:
    there: dict[int, Row] = {}
    for each in changes:
        if each["before"] is not None:
            del there[each["before"]["id"]]
        if each["after"] is not None:
            there[each["after"]["id"]] = each["after"]
    return list(there.values())
