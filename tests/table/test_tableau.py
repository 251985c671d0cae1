"""Tables of results."""

from __future__ import annotations

from datetime import datetime

from execnodes.core.changelog import RowKind
from execnodes.core.types import BOOLEAN, INT, INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, STRING, array, timestamp
from rekindle.results.tableau import Tableau, tableau


def test_rows_of_a_query_carry_their_kind() -> None:
    rows = [(1, "a"), (1, "a"), (22, None)]
    kinds = [RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER]
    assert list(tableau(["id", "name"], [INT, STRING], rows, kinds)) == [
        "+----+----+--------+",
        "| op | id | name   |",
        "+----+----+--------+",
        "| +I |  1 | a      |",
        "| -U |  1 | a      |",
        "| +U | 22 | <NULL> |",
        "+----+----+--------+",
        "Received a total of 3 rows",
    ]


def test_statements_show_a_count() -> None:
    assert list(tableau(["table name"], [], [("t",)])) == [
        "+------------+",
        "| table name |",
        "+------------+",
        "| t          |",
        "+------------+",
        "1 row in set",
    ]


def test_nothing() -> None:
    assert list(tableau(["a"], [INT], [])) == ["Empty set"]
    assert list(tableau(["a"], [INT], [], [])) == ["Received a total of 0 rows"]


def test_values_are_written_by_type() -> None:
    lines = list(tableau(["t", "b"], [timestamp(3), BOOLEAN], [(datetime(2024, 1, 2), False)]))
    assert lines[3] == "| 2024-01-02 00:00:00.000 | FALSE |"


def test_intervals_are_written_as_flink_casts_them() -> None:
    types = [INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, array(INTERVAL_DAY_TIME)]
    (row,) = list(tableau(["a", "b", "c"], types, [(86_400_000, -14, [-93_784_500, None])]))[3:-2]
    assert row.strip("| ").split(" | ") == ["+1 00:00:00.000", "-1-02", "[-1 02:03:04.500, <NULL>]"]


def test_wide_characters_line_breaks_and_long_texts() -> None:
    lines = list(tableau(["s"], [STRING], [("日本",), ("a\nb",), ("x" * 50,)], max_width=10))
    assert lines == [
        "+------------+",
        "| s          |",
        "+------------+",
        "| 日本       |",
        "| a\\nb       |",
        "| xxxxxxx... |",
        "+------------+",
        "3 rows in set",
    ]


def test_rows_that_come_later_are_drawn_below_and_wider_ones_below_a_new_head() -> None:
    table = Tableau(["n", "s"], [INT, STRING], changes=True)
    first = list(table.add([(RowKind.INSERT, (1, "abc"))]))
    assert first == ["+----+---+-----+", "| op | n | s   |", "+----+---+-----+", "| +I | 1 | abc |"]
    assert list(table.add([])) == []
    assert list(table.add([(RowKind.DELETE, (2, "a"))])) == ["| -D | 2 | a   |"]
    wider = list(table.add([(RowKind.INSERT, (30, "a"))]))
    assert wider == ["+----+----+-----+", "| op |  n | s   |", "+----+----+-----+", "| +I | 30 | a   |"]
    assert list(table.end()) == ["+----+----+-----+", "Received a total of 3 rows"]
