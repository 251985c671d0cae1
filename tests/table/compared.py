"""Plans of the Table API beside those of the SQL that says the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import rekindle as r
from execnodes.core.errors import SqlError
from rekindle import Table, TableEnvironment

TABLES = """
CREATE TABLE t (k INT, v INT, s STRING, a ARRAY<INT>, f ROW<x INT, y STRING>, ts TIMESTAMP(3), p AS PROCTIME(),
    WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE u (k2 INT, w INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE o (k INT, v INT) WITH ('connector' = 'print');
"""
BATCH = {"execution.runtime-mode": "batch"}
PLACES = re.compile(r'"(line|column)": \d+')


def environment(options: dict[str, str] | None = None) -> TableEnvironment:
    env = TableEnvironment.create(options)
    env.execute_script(TABLES)
    return env


def outcome(compile_plan: Callable[[], r.CompiledPlan]) -> str:
    """The plan without the places in its text; for what the engine refuses, the reason."""
    try:
        return PLACES.sub("", compile_plan().as_json_string())
    except SqlError as error:
        return error.message


def same(env: TableEnvironment, table: Table, sql: str, *, refused: bool = False) -> None:
    wanted = outcome(lambda: env.compile_plan_sql(sql))
    assert outcome(table.compile_plan) == wanted
    assert refused or wanted.startswith("{"), wanted


def compiles(table: Table) -> bool:
    return outcome(table.compile_plan).startswith("{")
