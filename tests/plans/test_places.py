"""Where the SQL has what can fail: it stands beside the nodes, and changes nothing of what a plan means."""

from __future__ import annotations

import json

import pytest

from execnodes.core.expressions import Call, InputRef
from execnodes.core.places import (
    LONGEST,
    Place,
    explain,
    mark,
    number,
    numbered,
    one_lowering,
    place,
    row,
    told,
    within,
)
from execnodes.core.types import parse_type
from execnodes.functions import can_fail, resolve
from plans.compatibility.compare import Verdict, compare
from plans.compatibility.plan_meanings import meanings
from plans.evolution.diff import difference
from plans.format.codec import encode
from plans.format.load import load
from plans.format.places import places_of, without_places
from rekindle.api.table_environment import TableEnvironment

SQL = """CREATE TABLE t (a STRING, b INT, c BIGINT, d AS 1 / b)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
CREATE TABLE o (x INT, y BIGINT, z INT) WITH ('connector' = 'blackhole');
CREATE VIEW v AS SELECT CAST(a AS INT) AS x,
   c / b AS y, d FROM t;
INSERT INTO o SELECT x + 1, SUM(y % 3) / COUNT(y),
  MAX(d) FROM v WHERE JSON_VALUE('{}', 'lax $.a' ERROR ON EMPTY) = 'x' GROUP BY x;
"""


def plan(sql: str) -> str:
    return TableEnvironment.create({}).compile_script(sql).as_json_string()


def test_what_can_fail_has_its_place() -> None:
    found = {(each["statement"], each["line"], each["text"]) for each in json.loads(plan(SQL))["places"]}
    view, insert = "view `default_catalog`.`default_database`.`v`", "INSERT INTO default_catalog.default_database.o"
    assert found == {
        ("CREATE TABLE t", 1, "1 / b"),
        (view, 1, "CAST(a AS INT)"),
        (view, 2, "c / b"),
        (insert, 6, "SUM((y % 3)) / COUNT(y)"),
        (insert, 7, "JSON_VALUE('{}', 'lax $.a', 'ERROR', null, 'NULL', null)"),
    }


def test_plans_go_through_a_file_unchanged_and_old_ones_have_none() -> None:
    text = plan(SQL)
    assert plan(SQL) == text
    assert encode(load(text)) == text
    bare = without_places(text)
    assert json.loads(bare) == {key: value for key, value in json.loads(text).items() if key != "places"}
    assert places_of(load(bare).nodes) == ()
    assert encode(load(bare)) == bare == without_places(bare)


def test_layout_of_the_sql_changes_nothing_else() -> None:
    old, new = plan(SQL), plan(SQL.replace("INSERT INTO o SELECT ", "-- why\n\nINSERT INTO o\n   SELECT   "))
    assert old != new
    assert without_places(old) == without_places(new)
    assert not difference(load(old), load(new))
    assert compare(meanings(load(old)), meanings(load(new))).verdict is Verdict.FULL


@pytest.mark.parametrize(
    "wrong", [{"node": 99}, {"path": "/nowhere"}, {"path": "/"}, {"path": "/projection/0/operands/99"}]
)
def test_a_place_that_leads_nowhere_is_passed_over(wrong: dict[str, object]) -> None:
    document = json.loads(plan(SQL))
    document["places"] = [{**document["places"][0], **wrong}]
    assert places_of(load(json.dumps(document)).nodes) == ()


def test_places_take_no_part_in_equality() -> None:
    operands = tuple(InputRef(input_index=at, type=parse_type("INT")) for at in range(2))
    one, other = (resolve("/", operands) for _ in range(2))
    assert isinstance(one, Call)
    assert isinstance(other, Call)
    one.put(Place("s", 1, 2, "a / b"))
    assert one == other
    assert hash(one) == hash(other)
    assert one.model_dump_json() == other.model_dump_json()
    assert one.model_copy(update={"operands": operands}).place is one.place


@pytest.mark.parametrize(
    ("name", "types", "result", "fails"),
    [
        ("/", ("INT", "INT"), None, True),
        ("+", ("INT", "INT"), None, False),
        ("CAST", ("STRING",), "INT", True),
        ("CAST", ("BIGINT",), "INT", False),
        ("TRY_CAST", ("STRING",), "INT", False),
        ("CAST", ("ARRAY<STRING>",), "ARRAY<DATE>", True),
        ("ELEMENT", ("ARRAY<INT>",), None, True),
    ],
)
def test_what_can_fail(name: str, types: tuple[str, ...], result: str | None, fails: bool) -> None:
    operands = [InputRef(input_index=at, type=parse_type(each)) for at, each in enumerate(types)]
    call = resolve(name, operands, result=None if result is None else parse_type(result))
    assert isinstance(call, Call)
    assert can_fail(call) is fails


def test_marks() -> None:
    with within("INSERT INTO o"), within("view v"):
        first, second = place(3, 4, "a / b"), place(9, 9, "a / b")
    other, long = place(3, 4, "a / b"), place(1, 1, "x" * 999)
    assert len({mark(first), mark(second), mark(other)}) == 3
    with one_lowering():
        assert mark(first) == mark(second) != mark(other)
        assert mark(long) != mark(place(1, 2, "x" * 999))
    assert len(long.text) == LONGEST
    said = f"division by zero{mark(second)}"
    assert explained(f"{said}[row]") == ("division by zero", "view v, line 9, column 9: a / b", "")
    assert explain(f"{said}[rowAB12]")[2] == "AB12"
    assert explain("no [at 3] mark") == ("no [at 3] mark", None, "")
    assert explain("[at 99999999][row]") == ("", None, "")
    assert row() not in said


def test_workers_say_a_place_without_a_table() -> None:
    with within("INSERT INTO 'ö'"):
        found = place(3, 4)
    assert explained(f"no{told(found)}") == ("no", "INSERT INTO 'ö', line 3, column 4", "")
    assert explained(f"no{numbered(number(found))}") == ("no", "INSERT INTO 'ö', line 3, column 4", "")
    assert told(None) == mark(None) == ""


def test_a_statement_that_is_laid_out_otherwise_has_places_of_its_own() -> None:
    with within("INSERT INTO o"):
        one, other = place(1, 1, "a / b"), place(2, 2, "a / b")
    with one_lowering():
        first = mark(one)
    with one_lowering():
        second = mark(other)
    assert explained(f"x{first}[row]")[1] == "INSERT INTO o, line 1, column 1: a / b"
    assert explained(f"x{second}[row]")[1] == "INSERT INTO o, line 2, column 2: a / b"


def explained(message: str) -> tuple[str, str | None, str]:
    said, found, origin = explain(message)
    return said, None if found is None else str(found), origin
