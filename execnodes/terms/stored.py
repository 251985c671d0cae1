"""Terms as savepoints keep them: a list in which each names its parts by place: shared ones stand once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from execnodes.terms.term import Order, Part, Term, below


@dataclass(frozen=True)
class StoredTerm:
    """One term."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    kind: str
    says: str
    parts: tuple[tuple[str, Order, tuple[int, ...]], ...] = ()
    """Role, order and the places of its terms, which stand before it."""
    cut: bool = False

    def json(self) -> dict[str, object]:
        """As it is written."""
        found: dict[str, object] = {"kind": self.kind, "says": self.says}
        if self.parts:
            found["parts"] = [[role, str(order), list(places)] for role, order, places in self.parts]
        return found | ({"cut": True} if self.cut else {})


class Shelf:
    """Terms on their way into a savepoint."""

    def __init__(self) -> None:
        self.terms: list[StoredTerm] = []
        self._places: dict[str, int] = {}

    def place(self, term: Term) -> int:
        """Where a term stands; it is put there with all its parts, if it is new."""
        for each in below(term, lambda term: term.digest not in self._places):
            # Two branches may have brought it meanwhile.
            if each.digest not in self._places:
                parts = tuple((part.role, part.order, self._at(part.terms)) for part in each.parts)
                self._places[each.digest] = len(self.terms)
                self.terms.append(StoredTerm(each.kind, each.says, parts, each.cut))
        return self._places[term.digest]

    def _at(self, terms: Iterable[Term]) -> tuple[int, ...]:
        return tuple(self._places[each.digest] for each in terms)


def restored(stored: Sequence[StoredTerm]) -> list[Term]:
    """The terms, by their places; ValueError for what was never written so."""
    found: list[Term] = []
    for at, each in enumerate(stored):
        if not all(map(str.isidentifier, (each.kind.replace(" ", "_"), *(role for role, _, _ in each.parts)))):
            raise ValueError(f"terms.{at}: kinds and roles are words")
        if any(not 0 <= place < at for _, _, places in each.parts for place in places):
            raise ValueError(f"terms.{at}: it is made of terms that do not stand before it")
        try:
            parts = tuple(
                Part(role, tuple(found[place] for place in places), order) for role, order, places in each.parts
            )
            found.append(Term(each.kind, each.says, parts, each.cut))
        except ValueError as error:
            raise ValueError(f"terms.{at}: {error}") from error
    return found
