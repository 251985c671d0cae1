"""Reasons name the smallest parts that have changed, however large the plan is."""

from __future__ import annotations

import pytest
from hypothesis import given

from execnodes.terms.changes import changes, told
from execnodes.terms.forms import same
from execnodes.terms.term import Term, leaf, said
from tests.terms.trees import EXPRESSIONS, call, column, count, where

A, B, C = column("a"), column("b"), column("c")
T, U = leaf("table", "default_catalog.default_database.t"), leaf("table", "u")
ONE, TWO = (said("literal", "{value}", value=leaf("value", each)) for each in "12")


def groups(key: tuple[Term, ...], rows: Term) -> Term:
    return said("groups", "groups by ({key}) of ({input})", key=frozenset(key), input=rows)


def join(left: Term, right: Term, *conditions: Term) -> Term:
    says = "join of ({left}) and ({right}) on ({condition})"
    return said("join", says, left=left, right=right, condition=frozenset(conditions))


def window(size: str) -> Term:
    return said("window", "TUMBLE({time}, size=[{size}])", time=A, size=leaf("length", size))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (T, U, ["input: t -> u"]),
        (T, where(T, call(">", A, ONE)), ["input: filter added: t.a > 1"]),
        (where(T, A, B), where(T, B), ["input: filter removed: t.a"]),
        (where(T, call(">", A, ONE)), where(T, call(">", A, TWO)), ["input: filter: t.a > 1 -> t.a > 2"]),
        (groups((A,), T), groups((B,), T), ["input: key: t.a -> t.b"]),
        (groups((A,), T), groups((A, B), T), ["input: key added: t.b"]),
        (groups((A,), T), groups((A,), where(T, B)), ["input: groups > filter added: t.b"]),
        (join(T, U, A), join(T, where(U, B), A), ["input: join right > filter added: t.b"]),
        (join(T, U, A), join(T, U, A, C), ["input: condition added: t.c"]),
        (groups((A,), where(T, A)), groups((B,), where(T, C)),
         ["input: key: t.a -> t.b", "input: groups > filter: t.a -> t.c"]),
        (count(A), count(B), ["input: argument: t.a -> t.b"]),
        (window("1 h"), window("2 h"), ["input: window size: 1 h -> 2 h"]),
        (None, A, ["input added: t.a"]),
        (A, None, ["input removed: t.a"]),
    ],
)  # fmt: skip
def test_reasons(old: Term | None, new: Term | None, says: list[str]) -> None:
    assert told("input", old, new, set()) == says


def test_a_part_named_like_its_label_is_named_once() -> None:
    assert told("window", window("1 h"), window("2 h"), set()) == ["window size: 1 h -> 2 h"]
    known: set[str] = set()
    assert told("key", A, B, known) == ["key: t.a -> t.b"]
    assert told("order", A, B, known) == []


def test_a_change_at_the_bottom_of_a_thousand_operators_is_one_sentence() -> None:
    old, new = T, where(T, call(">", A, ONE))
    for _ in range(1000):
        old, new = groups((A,), join(old, old, B)), groups((A,), join(new, new, B))
    (reason, *more) = told("input", old, new, set())
    assert "filter added: t.a > 1" in reason
    assert len(reason) < 120
    assert more == []


@given(EXPRESSIONS, EXPRESSIONS)
def test_there_are_changes_where_meanings_differ(one: Term, other: Term) -> None:
    assert bool(list(changes(one, other))) == (not same(one, other))
    assert bool(told("input", one, other, set())) == (not same(one, other))
