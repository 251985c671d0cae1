"""HTML from parts: whatever is not markup already is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from execnodes.core.words import plain

_VOID = frozenset({"meta", "br", "rect", "path", "col"})


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


Part = str | Iterable["Part"] | None
"""Text, markup, or several of them; None is nothing."""


def element(name: str, /, *parts: Part, **attributes: str | float | bool | None) -> Markup:
    """``element("td", text, class_="reason")``; attributes that are None or False are left out, True has no value."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*parts)}</{name}>")


def joined(*parts: Part) -> Markup:
    """Parts one after another."""
    return Markup("".join(_text(part) for part in parts))


def _text(part: Part) -> str:
    if part is None:
        return ""
    if isinstance(part, Markup):
        return part
    return escape(plain(part), quote=False) if isinstance(part, str) else "".join(map(_text, part))


def _attribute(key: str, value: str | float | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{escape(f"{value:g}" if isinstance(value, float) else plain(str(value)))}"'
