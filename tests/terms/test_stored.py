"""Terms come back from savepoints as they were; what nobody has written is refused."""

from __future__ import annotations

import pytest
from hypothesis import given

from execnodes.terms.stored import Shelf, StoredTerm, restored
from execnodes.terms.term import Order, Term, leaf, said
from tests.terms.trees import EXPRESSIONS, column

A = column("a")


@given(EXPRESSIONS, EXPRESSIONS)
def test_terms_come_back(one: Term, other: Term) -> None:
    shelf = Shelf()
    places = [shelf.place(each) for each in (one, other, one)]
    found = restored(shelf.terms)
    assert [found[each] for each in places] == [one, other, one]
    assert [found[each].text for each in places] == [one.text, other.text, one.text]
    assert places[0] == places[2]
    assert len({each.digest for each in found}) == len(found)


def test_what_is_shared_stands_once() -> None:
    made = A
    for _ in range(1000):
        made = said("join", "({of})", of=(made, made)).shortened()
    shelf = Shelf()
    shelf.place(made)
    assert len(shelf.terms) == 1004
    assert restored(shelf.terms)[-1].text == made.text


@pytest.mark.parametrize(
    ("term", "says"),
    [
        (StoredTerm("x", "{of}", (("of", Order.LIST, (1,)),)), "terms.1: it is made of terms that do not stand"),
        (
            StoredTerm("x", "{of}", (("of", Order.LIST, (-1,)),)),
            "terms.1: it is made of terms that do not stand before",
        ),
        (StoredTerm("x", "{other}", (("of", Order.LIST, (0,)),)), "terms.1: '{other}' says other"),
        (StoredTerm("x", "", (("of", Order.LIST, ()), ("of", Order.LIST, ()))), "terms.1: '' says a role twice"),
        (StoredTerm("x\0=y", ""), "terms.1: kinds and roles are words"),
        (StoredTerm("x", "", (("a:list:", Order.LIST, ()),)), "terms.1: kinds and roles are words"),
    ],
)
def test_what_nobody_has_written_is_refused(term: StoredTerm, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("{", r"\{")):
        restored([StoredTerm("column", "t.a"), term])


def test_leaves_that_look_like_sentences() -> None:
    shelf = Shelf()
    place = shelf.place(leaf("value", '"{of}"'))
    assert restored(shelf.terms)[place].text == '"{of}"'
