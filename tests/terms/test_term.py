"""Terms are equal by what they mean, are shown by what they say, and may be as deep as a plan."""

from __future__ import annotations

import hashlib
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.terms.term import Bag, Term, below, leaf, said

A, B, C = (leaf("column", each) for each in ("t.a", "t.b", "t.c"))


def _terms() -> st.SearchStrategy[Term]:
    leaves = st.builds(leaf, st.sampled_from(["column", "table"]), st.sampled_from(["a", "b", "a, b", "{key}", ""]))

    def more(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        many = st.one_of(
            inner, st.lists(inner, max_size=3), st.frozensets(inner, max_size=3), st.lists(inner, max_size=3).map(Bag)
        )
        return st.one_of(
            st.builds(lambda key, of: said("groups", "by ({key}) of ({of})", key=key, of=of), many, inner),
            st.builds(lambda kind, key: said(kind, "{key: and }", key=key), st.sampled_from(["x", "y"]), many),
        )

    return st.recursive(leaves, more, max_leaves=12)


def _plain(term: Term) -> object:
    """What a term is, without digests."""
    if not term.parts:
        return (term.kind, term.says)
    parts = []
    for each in term.parts:
        inner = [_plain(one) for one in each.terms]
        parts.append((each.role, str(each.order), tuple(inner if each.order == "list" else sorted(inner, key=repr))))
    return (term.kind, tuple(parts))


@given(_terms(), _terms())
def test_digests_are_equal_where_terms_are(one: Term, other: Term) -> None:
    assert (one.digest == other.digest) == (_plain(one) == _plain(other)) == (one == other)


@given(_terms())
def test_only_the_sentence_shows(term: Term) -> None:
    if term.parts:
        assert Term(term.kind, "in other words", term.parts) == term
    assert Term("another kind", term.says, term.parts) != term


def test_order_counts_where_it_is_said_to() -> None:
    tuples = {said("x", "[{of}]", of=each) for each in permutations((A, B, C))}
    bags = {said("x", "[{of}]", of=Bag(each)) for each in permutations((A, B, C))}
    sets = {said("x", "[{of}]", of=frozenset(each)) for each in permutations((A, B, C))}
    assert (len(tuples), len(bags), len(sets)) == (6, 1, 1)
    assert said("x", "{of}", of=Bag((A, A))) != said("x", "{of}", of=Bag((A,)))


def test_texts() -> None:
    groups = said("groups", "groups by ({key}) of ({input})", key=frozenset([B, A]), input=leaf("table", "t {x}"))
    assert groups.text == "groups by (t.a, t.b) of (t {x})"
    assert said("rows", "{of} where {filter: where }", of=A, filter=frozenset([C, B])).text == "t.a where t.b where t.c"
    assert said("union", "union[{input}]", input=Bag((B, A, B))).text == "union[t.b, t.a, t.b]"


def test_long_texts_are_cut_and_trees_are_not() -> None:
    long = [said("x", "{of}", of=[leaf("column", "c" * 5000), each]).shortened() for each in (A, B)]
    assert long[0].text[:400] == "c" * 400
    assert long[0].text[400:] == f"…#{hashlib.sha256(('c' * 5000 + ', t.a').encode()).hexdigest()}"
    assert [each["of"][0].says for each in long] == ["c" * 5000] * 2
    assert long[0] != long[1]
    assert said("x", "{of}", of=[leaf("column", "c" * 5000), A]) == long[0]


def test_a_deep_tree_is_as_large_as_what_it_is_made_of() -> None:
    """Each operator reads the one below twice: as a text it would have 2 ** 1000 tables."""
    made = leaf("table", "t")
    for at in range(1000):
        made = said("join", "join of ({input: and }) on {key}", input=(made, made), key=leaf("column", f"c{at}"))
        made = made.shortened()
    assert len(list(below(made, lambda _: True))) == 2001
    assert len(made.text) <= 4000


@pytest.mark.parametrize("says", ["{other}", "{of} {other}"])
def test_a_sentence_names_parts_that_there_are(says: str) -> None:
    with pytest.raises(ValueError, match="says other"):
        said("x", says, of=A)
