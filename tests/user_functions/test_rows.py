"""`Row`: by place, by name, by kind; and rows on their way to functions and back."""

from __future__ import annotations

import copy
import datetime
import pickle
from typing import Any

import pytest

from execnodes.core.types import parse_type
from execnodes.user_functions.arrow_values import reader, table_writer, writer
from execnodes.user_functions.rows import Row
from rekindle import RowKind

ROW = parse_type("ROW<k INT, at TIME, inner ROW<x INT>>")
HELD = {"k": 1, "at": 3_600_000, "inner": {"x": 2}}


def test_rows_have_places_names_and_kinds() -> None:
    row = Row(name="Ann", age=11)
    assert (row[0], row["name"], row.age, len(row), row[0:1]) == (11, "Ann", 11, 2, [11])
    assert list(row) == [11, "Ann"]
    assert "Ann" in row
    assert "name" not in row
    assert row.as_dict() == {"age": 11, "name": "Ann"}
    assert repr(row) == "Row(age=11, name='Ann')"
    assert row.get_row_kind() is RowKind.INSERT
    row["age"], row[1] = 12, "Bob"
    assert row == Row("age", "name")(12, "Bob") == Row(12, "Bob")
    assert row != Row("age", "called")(12, "Bob")
    assert Row.of_kind(RowKind.DELETE, 12, "Bob") != row
    assert hash(row) == hash(Row(12, "Bob"))


def test_rows_survive_copies() -> None:
    row = Row.of_kind(RowKind.UPDATE_AFTER, 1, Row(a=[Row(b=2)]))
    row.set_field_names(["x", "y"])
    for each in (pickle.loads(pickle.dumps(row)), copy.deepcopy(row)):
        assert each == row
        assert each.as_dict(True) == {"x": 1, "y": {"a": [{"b": 2}]}}
        assert each.get_field_names() == ["x", "y"]


def test_what_a_row_does_not_have_is_an_error() -> None:
    row = Row(1, 2)
    assert repr(row) == "<Row(1, 2)>"
    assert row.get_field_names() is None
    with pytest.raises(TypeError, match="no names"):
        row.as_dict()
    with pytest.raises(KeyError):
        row["a"]
    with pytest.raises(AttributeError, match="has no 'a'"):
        _ = row.a
    with pytest.raises(AttributeError, match=r"write row\['a'\]"):
        row.a = 1
    with pytest.raises(ValueError, match="3 values"):
        Row("a", "b")(1, 2, 3)
    with pytest.raises(ValueError, match="not of both"):
        Row(1, a=2)


def test_functions_get_rows_that_are_found_by_place_name_and_attribute() -> None:
    hinted, plain = reader(ROW, Row), reader(ROW)
    assert hinted is not None
    assert plain is not None
    one = datetime.time(1)
    assert hinted(HELD) == Row("k", "at", "inner")(1, one, Row(x=2))
    given = plain(HELD)
    assert given == {"k": 1, "at": one, "inner": {"x": 2}}
    assert (given[0], given.at, given["inner"].x, given[-1][0]) == (1, one, 2, 2)
    assert given.as_dict(True) == {"k": 1, "at": one, "inner": {"x": 2}}
    with pytest.raises(KeyError):
        given["no"]
    with pytest.raises(AttributeError, match="has no 'no'"):
        _ = given.no


@pytest.mark.parametrize(
    "given",
    [
        Row(1, datetime.time(1), Row(2)),
        Row("k", "at", "inner")(1, datetime.time(1), Row(x=2)),
        Row(k=1, at=datetime.time(1), inner=Row(x=2)),
        Row("a", "b", "c")(1, datetime.time(1), {"x": 2}),
    ],
    ids=repr,
)
def test_functions_return_rows(given: Row) -> None:
    write = writer(ROW)
    assert write is not None
    assert write(given) == HELD


@pytest.mark.parametrize("given", [Row(1, "a"), [Row(1, "a")], iter([Row(n=1, word="a")])])
def test_table_functions_return_rows(given: Any) -> None:
    assert table_writer(parse_type("ARRAY<ROW<n INT, word STRING>>"))(given) == [{"n": 1, "word": "a"}]
    assert table_writer(parse_type("ARRAY<ROW<n INT>>"))(Row(1)) == [{"n": 1}]
