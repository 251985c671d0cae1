"""A meaning is a tree of terms, made of source columns upwards: its digest tells it from others, its text shows it.

Terms are immutable and share what they are made of, so a plan of a thousand operators has as many terms as it has
operators and expressions, however often a table is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Self

_LONGEST = 4000
"""Characters; of a longer text the beginning and a hash are shown. Trees are not cut."""
_ENDLESS = 1_000_000
"""Characters that no text is longer than."""
_PLACE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


ROWS = "rows"
"""Kind of rows with a filter: `of` and `filter`."""


class Order(StrEnum):
    """What counts of several terms in one role."""

    LIST = "list"
    """All of it: which come, and in which order."""
    BAG = "bag"
    """How often each comes, in whatever order."""
    SET = "set"
    """Which come."""


@dataclass(frozen=True, slots=True)
class Part:
    """The terms that a term has in one role."""

    role: str
    """A word for people: reasons name what has changed by it. ``_`` stands for a space."""
    terms: tuple[Term, ...]
    order: Order = Order.LIST

    @property
    def digests(self) -> list[str]:
        """Equal for parts that mean the same."""
        found = [each.digest for each in self.terms]
        if self.order is Order.SET:
            return sorted(set(found))
        return found if self.order is Order.LIST else sorted(found)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Term:
    """Something that is meant. Terms are equal if they are of one kind and have equal parts; leaves, equal texts."""

    kind: str
    """What it is: ``column``, ``call``, ``groups``."""
    says: str
    """The text of a leaf; else a sentence with ``{role}`` for its parts, or ``{role: and }`` with what stands between
    several terms. It only shows the term: to word it better changes no meaning."""
    parts: tuple[Part, ...] = ()
    cut: bool = False
    """Whether its text is cut if it is long; no part of what it means."""
    digest: str = field(init=False)
    _text: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.parts:
            _check(self.says, tuple([each.role for each in self.parts]))
            # Kinds and roles are words, digests hexadecimal: what stands between them is in none.
            content = "\0".join([f"{each.role}:{each.order}:{' '.join(each.digests)}" for each in self.parts])
            whole = f"{self.kind}\0({content}"
        else:
            whole = f"{self.kind}\0={self.says}"
        object.__setattr__(self, "digest", hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.text}>"

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, role: str) -> tuple[Term, ...]:
        """The terms in a role; none if it has no such part."""
        for each in self.parts:
            if each.role == role:
                return each.terms
        return ()

    @property
    def text(self) -> str:
        """As it is shown, with all that tells it from others."""
        if self._text is None:
            for each in below(self, lambda term: term._text is None):
                object.__setattr__(each, "_text", each._made_text())
        assert self._text is not None
        return self._text

    def shortened(self) -> Self:
        """The same, with a text that is cut if it is long."""
        if self.cut or not self.parts:
            return self
        # Of the same digest, which is not computed again.
        made = object.__new__(type(self))
        values = {"kind": self.kind, "says": self.says, "parts": self.parts, "cut": True, "digest": self.digest}
        for name, value in {**values, "_text": None}.items():
            object.__setattr__(made, name, value)
        return made

    def _made_text(self) -> str:
        if not self.parts:
            return self.says
        shown = {each.role: each for each in self.parts}
        text = "".join(
            literal + (_joined(shown[role], between) if role else "") for literal, role, between in pieces(self.says)
        )
        return shortened(text) if self.cut or len(text) > _ENDLESS else text


def leaf(kind: str, text: str) -> Term:
    """A term without parts."""
    return Term(kind, text)


def said(kind: str, says: str, **parts: Term | Collection[Term]) -> Term:
    """A term with parts: one term, a tuple or list whose order counts, a frozenset or a `Bag`.

    ``said("groups", "groups by ({key}) of ({input})", key=frozenset(keys), input=rows.rows)``
    """
    return Term(kind, says, tuple(_part(role, each) for role, each in parts.items()))


class Bag(tuple[Term, ...]):
    """Terms whose order does not count, but their number; shown in the order given."""


def shortened(text: str) -> str:
    """The text, or its beginning and a hash of all of it."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 10]}…#{hashlib.sha256(text.encode()).hexdigest()}"


def below(term: Term, wanted: Callable[[Term], bool]) -> Iterator[Term]:
    """Terms from the leaves up to a term, each once; below one that is not wanted nothing is looked at."""
    seen: set[int] = set()
    ahead = [(term, False)]
    while ahead:
        each, done = ahead.pop()
        if done:
            yield each
        elif id(each) not in seen and wanted(each):
            seen.add(id(each))
            ahead.append((each, True))
            ahead.extend((inner, False) for part in reversed(each.parts) for inner in reversed(part.terms))


def _part(role: str, given: Term | Collection[Term]) -> Part:
    if isinstance(given, Term):
        return Part(role, (given,))
    if isinstance(given, frozenset):
        return Part(role, tuple(sorted(given, key=lambda each: each.digest)), Order.SET)
    return Part(role, tuple(given), Order.BAG if isinstance(given, Bag) else Order.LIST)


def _joined(part: Part, between: str) -> str:
    texts = [each.text for each in part.terms]
    return between.join(sorted(set(texts)) if part.order is Order.SET else texts)


@lru_cache(maxsize=1000)
def _check(says: str, roles: tuple[str, ...]) -> None:
    """ValueError for a sentence that names parts that there are not."""
    missing = {role for _, role, _ in pieces(says) if role} - set(roles)
    if missing or len(set(roles)) != len(roles):
        raise ValueError(f"{says!r} says {', '.join(sorted(missing)) or 'a role twice'}")


@lru_cache(maxsize=1000)
def pieces(says: str) -> tuple[tuple[str, str, str], ...]:
    """What stands before each place of a sentence, its role, and what stands between terms; in the end the rest."""
    found, at = [], 0
    for match in _PLACE.finditer(says):
        found.append((says[at : match.start()], match[1], ", " if match[2] is None else match[2]))
        at = match.end()
    return (*found, (says[at:], "", ""))
