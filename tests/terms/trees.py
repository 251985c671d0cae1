"""Terms as nodes make them of expressions: for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from execnodes.terms.term import ROWS, Term, leaf, said

BOOLEAN, BIGINT = leaf("type", "{BOOLEAN}"), leaf("type", "{BIGINT}")


def column(name: str) -> Term:
    """A column of a table."""
    return said("column", "{table}.{name}{type}", table=leaf("table", "t"), name=leaf("name", name), type=BIGINT)


def call(name: str, *operands: Term) -> Term:
    """A call of a function of the system."""
    function = leaf("function", f"${name}$1")
    return said("call", "{function}({operand}){type}", function=function, operand=operands, type=BOOLEAN)


def count(argument: Term) -> Term:
    """COUNT of something."""
    return said("aggregate", "{function}({argument})", function=leaf("function", "$COUNT$1"), argument=argument)


def not_null(value: Term) -> Term:
    """A column that is never NULL, as an argument of COUNT."""
    return said("not null", "{value}", value=value)


def where(rows: Term, *conditions: Term) -> Term:
    """Rows with a filter."""
    return said(ROWS, "{of} where {filter: where }", of=rows, filter=frozenset(conditions))


VALUES = st.sampled_from([column("a"), column("b"), said("literal", "{value}", value=leaf("value", "1"))])


def _more(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.one_of(
        st.builds(call, st.just("NOT"), inner),
        st.builds(call, st.sampled_from(["AND", "OR", "=", "<>", "<", ">=", "+", "-"]), inner, inner),
        st.builds(lambda value: said("idle cast", "{operand}", operand=value), inner),
        st.builds(count, st.one_of(inner, inner.map(not_null))),
        st.builds(where, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(VALUES, _more, max_leaves=10)
