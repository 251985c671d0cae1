"""Names and constants of users that the engine uses, too, are data: the rows are those of plain ones."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

import execnodes
from execnodes.core.errors import PlanError
from execnodes.core.places import ROW
from execnodes.lowering.stream import ACTIVE, KIND, MAJOR, SEQUENCE, WATERMARK
from execnodes.lowering.words import mentions, with_part, with_word
from rekindle.api.table_environment import TableEnvironment
from rekindle.testing import RestoreProgram
from rekindle.testing.restore_run import Changes, compiled, put, rows, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 20261127
PLACES = ("a", "b", "c", "ts", "p", "q", "r")
PLAIN = {place: f"plain_{place}" for place in PLACES}
ROWS = (("x", 1, 5, 0), ("y", 2, 6, 0), ("x", 3, 7, 1), ("x", 1, 8, 2), ("z", None, 9, 3), ("y", 2, 1, 3))
QUERIES = dict(
    line.split(": ", 1) for line in Path(__file__).with_name("own_names.txt").read_text(encoding="utf-8").splitlines()
)


def inner_names() -> list[str]:
    """Constants that may be names of columns inside the engine."""
    root = Path(execnodes.__file__).parents[1]
    found = set()
    for folder in (
        "execnodes/stream",
        "execnodes/kernels",
        "execnodes/state",
        "execnodes/engine",
        "execnodes/lowering",
        "rekindle/engine",
    ):
        for file in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and re.fullmatch(r"[a-z_:]{2,20}", node.value)
                ):
                    found.add(node.value)
    return sorted(found - {KIND, MAJOR, SEQUENCE, "window_start", "window_end", "window_time"})  # fmt: skip


NAMES = inner_names()


def rows_of(query: str, names: Mapping[str, str], folder: Path, spark: SparkSession) -> list[tuple[str, ...]]:
    """Rows with the names in them put back."""
    folder.mkdir()
    values = [dict(zip("abc", row, strict=False)) | {"ts": f"2024-01-01 00:0{row[3]}:00"} for row in ROWS]
    lines = (json.dumps({names[place]: value for place, value in row.items()}) for row in values)
    (folder / "t.json").write_text("\n".join(lines))
    quoted = {place: f"`{name}`" for place, name in names.items()}
    text = query.format(**quoted, **{f"/{place}": name for place, name in names.items()})
    environment = TableEnvironment.create(spark=spark)
    columns = ", ".join(
        f"{quoted[each]} {t}" for each, t in (("a", "STRING"), ("b", "INT"), ("c", "INT"), ("ts", "TIMESTAMP(3)"))
    )
    environment.execute_sql(
        f"CREATE TABLE t ({columns}, WATERMARK FOR {quoted['ts']} AS {quoted['ts']}) WITH ('connector' = 'filesystem',"
        f" 'path' = '{folder}', 'format' = 'json')"
    )  # fmt: skip
    with environment.execute_sql(text).collect() as result:
        found = [(str(each.get_row_kind()), *map(str, each)) for each in result]
    back = {name: PLAIN[place] for place, name in names.items()}
    return sorted(
        tuple(re.sub("|".join(map(re.escape, back)), lambda m: back[m[0]], cell) for cell in row) for row in found
    )


@pytest.mark.spark
@pytest.mark.parametrize("number", [0, *(pytest.param(each, marks=pytest.mark.long) for each in range(1, 20))])
@pytest.mark.parametrize("name", list(QUERIES))
def test_names_are_data(name: str, number: int, tmp_path: Path, spark: SparkSession) -> None:
    random = Random(f"{SEED} {name} {number}")
    hidden = [each for each in NAMES if each.startswith("rk_")]
    chosen = random.sample(hidden, 7) if number == 0 else random.sample(NAMES, 7)
    names = dict(zip(PLACES, chosen, strict=True))
    plain = rows_of(QUERIES[name], PLAIN, tmp_path / "plain", spark)
    assert rows_of(QUERIES[name], names, tmp_path / "named", spark) == plain, names


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_columns_of_files_have_any_name(mode: str, tmp_path: Path, spark: SparkSession) -> None:
    """The file and the row are known beside them: a cast that fails would say which row it was."""
    names = "rk_path", "rk_seq", "rk_number", "u_rk_seq"
    pl.DataFrame({name: ["1"] for name in names}).write_parquet(tmp_path / "t")
    environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    environment.execute_sql(
        f"CREATE TABLE t ({', '.join(f'{name} STRING' for name in names)}) WITH ('connector' = 'filesystem',"
        f" 'path' = '{tmp_path}', 'format' = 'parquet')"
    )
    values = (f"LAST_VALUE(CAST({name} AS INT)) AS {name}_" for name in names)
    with environment.execute_sql(f"SELECT {', '.join(values)} FROM t WHERE rk_seq > '0'").collect() as rows:
        assert [tuple(each) for each in rows] == [(1, 1, 1, 1)]


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_what_stands_for_a_row_is_no_text_of_a_user(mode: str, tmp_path: Path, spark: SparkSession) -> None:
    """The cast would say which row has failed, which something in its text stands for until the source is known."""
    (tmp_path / "t.json").write_text(json.dumps({"a": "1", "s": {ROW: "x"}}))
    environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    environment.execute_sql(
        f"CREATE TABLE t (a STRING, s ROW<`{ROW}` STRING>) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}',"
        " 'format' = 'json')"
    )
    texts = "CONCAT('[r', 'ow]'), CONCAT('[row]'), '[r' || 'ow]', '{}'".format(ROW.replace("'", "''"))
    with environment.execute_sql(f"SELECT {texts}, s.`{ROW}`, CAST(a AS INT) FROM t").collect() as rows:
        assert [tuple(each) for each in rows] == [("[row]", "[row]", "[row]", ROW, "x", 1)]


def test_there_are_names_to_try() -> None:
    assert {WATERMARK, ACTIVE, "rk_hash", "rk_bucket", "moved", "count"} <= set(NAMES)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize("name", [KIND, MAJOR, SEQUENCE])
def test_names_that_writers_know_are_refused(name: str, mode: str, spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    with pytest.raises(PlanError, match=f"a column that is written cannot be called '{name}'"):
        environment.execute_sql(f"SELECT a AS {name} FROM t")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rk_x + 1", "y + 1"),
        ("rk_xy + rk_x", "rk_xy + y"),
        ("'rk_x' || rk_x || '\\' rk_x'", "'rk_x' || y || '\\' rk_x'"),
        ("s.`rk_x` = s.`a``rk_x`", "s.`rk_x` = s.`a``rk_x`"),
    ],
)
def test_words_are_no_data(text: str, found: str) -> None:
    assert with_word(text, "rk_x", "y") == found
    assert mentions(text, "rk_x") == (text != found or "rk_xy" in text)


def test_parts_are_no_data() -> None:
    constant = ROW.replace("'", "\\'")
    assert with_part(f"concat({ROW}, '{constant}', s.`{ROW}`)", ROW, "x") == f"concat(x, '{constant}', s.`{ROW}`)"


STATEFUL = """
SELECT l.{a} AS x, r.{b} AS y, COUNT(*) AS n FROM (SELECT {a}, {b}, MAX({c}) AS {p} FROM t GROUP BY {a}, {b}) AS l
  JOIN t AS r ON l.{a} = r.{a} AND l.{p} > r.{c} GROUP BY l.{a}, r.{b}
"""


@pytest.mark.spark
@pytest.mark.parametrize(
    "chosen",
    [PLAIN.values(), ("rk_hash", "rk_bucket", "rk_kind", "rk_wm", "rk_written", "q", "r")],
    ids=["plain", "own"],
)
def test_state_of_columns_of_any_name_goes_on(chosen: Iterable[str], tmp_path: Path, spark: SparkSession) -> None:
    names = dict(zip(PLACES, chosen, strict=True))
    a, b, c = (names[place] for place in "abc")
    program = RestoreProgram(
        "names",
        f"""CREATE TABLE t (`{a}` STRING, `{b}` INT, `{c}` INT)
        WITH ('connector' = 'filesystem', 'path' = '${{dir}}/t', 'format' = 'csv');""",
        {"out": STATEFUL.format(**{place: f"`{name}`" for place, name in names.items()})},
        {"t/0.csv": "x,1,5\nx,2,3\ny,1,1\n"},
        {"t/1.csv": "x,1,4\ny,1,9\n"},
    )
    given: Changes = {"out": []}
    for part, (files, savepoint) in enumerate(((program.before, None), (program.after, tmp_path / "savepoint"))):
        put(files, tmp_path, part)
        made = compiled(program, tmp_path)
        target = tmp_path / "savepoint" if savepoint is None else None
        found = run(spark, program, made, made.plan.graph, folder=tmp_path, savepoint=savepoint, target=target)
        given["out"] += found["out"]
    assert sorted(rows(made, given)["out"]) == [["x", 1, 1], ["x", 2, 1], ["y", 1, 1]]
