"""Changelogs to rows, and rows against expected ones."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from rekindle.testing.compare import close, compare
from rekindle.testing.materialize import Message, canonical, materialize

I, UB, UA, D = RowKind  # noqa: E741


def log(*changes: tuple[RowKind, list[object]]) -> list[Message]:
    return [Message(kind, row) for kind, row in changes]  # type: ignore[arg-type]


def test_without_key_rows_are_a_multiset() -> None:
    found = materialize(log((I, [1]), (I, [1]), (I, [2]), (UB, [1]), (UA, [3]), (D, [2])))
    assert sorted(found.rows) == [[1], [3]]
    assert not found.missing


def test_retraction_of_a_missing_row_is_told() -> None:
    found = materialize(log((I, [1]), (D, [1]), (UB, [1]), (UA, [1.0])))
    assert [message.kind for message in found.missing] == [UB]
    assert found.rows == ([1.0],)


def test_integer_and_double_are_different_rows() -> None:
    assert materialize(log((I, [1]), (D, [1.0]))).missing


def test_under_a_key_the_last_row_stays() -> None:
    changes = log(
        (I, ["a", 1]), (UA, ["a", 2]), (I, ["b", 1]), (D, ["b", 9]), (D, ["c", 1]), (UB, ["a", 1]), (UA, ["a", 3])
    )
    found = materialize(changes, key=[0])
    assert found.rows == (["a", 3],)
    assert not found.missing


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_an_updating_changelog_ends_at_its_last_values(updates: list[tuple[int, int]]) -> None:
    current: dict[int, int] = {}
    changes = []
    for key, value in updates:
        if key in current:
            changes.append(Message(UB, [key, current[key]]))
        changes.append(Message(UA if key in current else I, [key, value]))
        current[key] = value
    expected = [[key, value] for key, value in current.items()]
    plain = materialize(changes)
    assert not plain.missing
    assert not compare(expected, plain.rows)  # type: ignore[arg-type]
    assert not compare(expected, materialize(changes, [0]).rows)  # type: ignore[arg-type]


def test_differences_name_both_sides() -> None:
    difference = compare([["a", 1], ["b", 2], ["b", 2]], [["b", 2], ["c", 3]])
    assert difference.lacking == ('["a", 1]', '["b", 2]')
    assert difference.surplus == ('["c", 3]',)
    lines = ["2 expected rows are missing, 1 row is too many", '- ["a", 1]', '- ["b", 2]', '+ ["c", 3]']
    assert difference.lines() == lines
    assert len(difference.lines(most=1)) == 3


def test_only_the_last_digits_of_doubles_may_differ() -> None:
    assert not compare([["a", 0.1 + 0.2]], [["a", 0.3]])
    assert compare([["a", 1.0]], [["a", 1.000001]])
    assert compare([["a", 1.0]], [["a", 1]])
    assert compare([[{"a": 1.0}]], [[{"b": 1.0}]])
    assert close([{"a": [0.1 + 0.2]}], [{"a": [0.3]}])
    assert not close(["0.3"], [0.3])


_ROWS = st.lists(st.lists(st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.text(max_size=1)), max_size=2))


@given(_ROWS, _ROWS)
def test_compare_is_a_multiset_difference(expected: list[list[object]], found: list[list[object]]) -> None:
    difference = compare(expected, found)  # type: ignore[arg-type]
    wanted = Counter(canonical(row) for row in expected)  # type: ignore[arg-type]
    given_rows = Counter(canonical(row) for row in found)  # type: ignore[arg-type]
    assert Counter(difference.lacking) == wanted - given_rows
    assert Counter(difference.surplus) == given_rows - wanted


def test_a_key_of_no_columns_leaves_the_last_row() -> None:
    assert materialize(log((I, [1, 5]), (UA, [2, 9])), key=()).rows == ([2, 9],)
    assert materialize(log((I, [1, 5]), (D, [1, 5])), key=()).rows == ()
