"""Terms that mean the same have one form, and the form is its own."""

from __future__ import annotations

import pytest
from hypothesis import given

from execnodes.terms.forms import form, same
from execnodes.terms.shown import shown
from execnodes.terms.term import Order, Part, Term, leaf, said
from tests.terms.trees import EXPRESSIONS, call, column, count, not_null, where

A, B, C = column("a"), column("b"), column("c")
ONE = said("literal", "{value}", value=leaf("value", "1"))
NULL = said("literal", "{value}", value=leaf("value", "null"))
ROWS = leaf("rows", "*")
T = leaf("table", "t")


@given(EXPRESSIONS)
def test_a_form_is_its_own(term: Term) -> None:
    for counted in (False, True):
        once = form(term, counted=counted)
        assert form(once, counted=counted) == once
        assert form(once, counted=counted).text == once.text
    assert same(term, form(term))


def _turned(term: Term) -> Term:
    """The same in other words: operands the other way round where that says nothing, and doubly denied."""
    parts = tuple(Part(each.role, tuple(map(_turned, each.terms)), each.order) for each in term.parts)
    made = Term(term.kind, term.says, parts) if parts else term
    name = made["function"][0].says.strip("$")[:-2] if made.kind == "call" else ""
    operands = made["operand"]
    if name in ("AND", "OR", "=", "<>", "+"):
        return call(name, *operands[::-1])
    if name in ("<", ">="):
        return call({"<": ">", ">=": "<="}[name], *operands[::-1])
    return call("NOT", call("NOT", made)) if name == "NOT" else made


@given(EXPRESSIONS)
def test_other_words_have_the_same_form(term: Term) -> None:
    assert form(_turned(term)) == form(term)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (call("AND", A, call("AND", B, C)), call("AND", call("AND", C, A), B)),
        (call("AND", A, A), A),
        (where(T, A, B), where(T, call("AND", B, A))),
        (count(ROWS), count(ONE)),
        (count(not_null(A)), count(ROWS)),
        (count(not_null(A)), count(A)),
        (call("NOT", call("NOT", A)), A),
        (said("idle cast", "{operand}", operand=A), A),
    ],
)
def test_one_meaning(one: Term, other: Term) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (call("AND", A, call("OR", B, C)), call("AND", call("OR", A, B), C)),
        (call("-", A, B), call("-", B, A)),
        (call("<", A, B), call(">", A, B)),
        (call("+", A, A), A),
        (call("*", call("*", A, B), C), call("*", A, B)),
        (count(A), count(ROWS)),
        (count(NULL), count(ROWS)),
        (count(not_null(A)), count(B)),
        (where(T, A), where(T, B)),
        (where(T, call("OR", A, B)), where(T, A, B)),
    ],
)
def test_two_meanings(one: Term, other: Term) -> None:
    assert not same(one, other)
    assert shown(one) != shown(other)


def test_deep_trees_are_compared_in_a_walk() -> None:
    one, other = T, T
    for at in range(1000):
        one, other = (
            where(said("x", "({of})", of=(one, one)), call(">", A, B)),
            where(said("x", "({of})", of=(other, other)), call("<", B, A)),
        )
        assert at or same(one, other)
    assert same(one, other)
    assert all(each.order in Order for each in form(one).parts)
    assert len(shown(one)) <= 240
