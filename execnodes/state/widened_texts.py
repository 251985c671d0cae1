"""Nested values of a state as those of a wider type: JSON texts of slot values (`execnodes.lowering.slots`), made anew.

What does not change stays byte for byte as it is written: these texts are compared and hashed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from execnodes.core.types import INT, LogicalType, Root
from execnodes.lowering.slots import slot_kind

Node = str | list["Node"] | dict[str, "Node"]
"""A value of JSON: of a single one its text, quotes and all."""
Step = Callable[[Node], str]
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')
_NULL = "null"


def text_widener(old: LogicalType, new: LogicalType) -> Callable[[str], str] | None:
    """From the text of a nested value to that of the same value in a wider type; None if that is the same text."""
    if not is_in_other_slots(old, new):
        return None
    step = _step(old, new)
    return lambda text: step(_parsed(text))


def is_in_other_slots(old: LogicalType, new: LogicalType) -> bool:
    """Whether slots, and with them hashes, of the same value differ in a type that is wider."""
    if old.root is Root.DECIMAL is new.root:
        return (old.scale, slot_kind(old)) != (new.scale, slot_kind(new))
    if old.root is Root.ROW:
        names = [each.name for each in old.fields] != [each.name for each in new.fields]
        return names or any(is_in_other_slots(a.type, b.type) for a, b in zip(old.fields, new.fields, strict=True))
    return any(is_in_other_slots(a, b) for a, b in zip(old.children, new.children, strict=True))


def _step(old: LogicalType, new: LogicalType) -> Step:
    match old.root:
        case Root.ROW:
            return _row(old, new)
        case Root.ARRAY:
            element = _step(old.element, new.element)
            return _or_null(lambda node: f"[{','.join(map(element, _items(node)))}]")
        case Root.MAP | Root.MULTISET:
            return _entries(old, new)
        case Root.DECIMAL:
            return _or_null(lambda node: _decimal(str(node), old, new))
        case _:
            # Slot values of all else are the same in wider types.
            return str


def _row(old: LogicalType, new: LogicalType) -> Step:
    before = {each.name: (str(at), each.type) for at, each in enumerate(old.fields)}
    cells: list[tuple[str, Step]] = []
    for field in new.fields:
        at, type = before.get(field.name, ("", field.type))
        cells.append((at, _step(type, field.type)))

    def made(node: Node) -> str:
        assert isinstance(node, dict)
        values = (step(node.get(at, _NULL)) for at, step in cells)
        return "{" + ",".join(f'"{at}":{value}' for at, value in enumerate(values)) + "}"

    return _or_null(made)


def _entries(old: LogicalType, new: LogicalType) -> Step:
    """Entries are in the order of their keys, which may be another one of keys that are written otherwise."""
    key = _step(_key(old), _key(new))
    value = str if old.root is Root.MULTISET else _step(old.element, new.element)
    ordered = is_in_other_slots(_key(old), _key(new))

    def made(node: Node) -> str:
        entries = [(key(each["k"]), value(each.get("v", _NULL))) for each in _items(node) if isinstance(each, dict)]
        if ordered:
            entries.sort(key=lambda each: _order(_parsed(each[0]), _key(new)))
        return "[" + ",".join(f'{{"k":{one},"v":{other}}}' for one, other in entries) + "]"

    return _or_null(made)


def _key(t: LogicalType) -> LogicalType:
    return t.element if t.root is Root.MULTISET else t.key


def _order(node: Node, t: LogicalType) -> tuple[Any, ...]:
    """As Spark orders slot values: NULL first, texts by their bytes."""
    if node == _NULL:
        return (0,)
    if isinstance(node, dict):
        values = (_order(node[str(at)], each.type) for at, each in enumerate(t.fields))
        return 1, tuple(values)
    if isinstance(node, list):
        inner = t.element if t.root is Root.ARRAY else INT
        return 1, tuple(_order(each, inner) for each in node)
    value = json.loads(node)
    return 1, value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _decimal(text: str, old: LogicalType, new: LogicalType) -> str:
    """Unscaled digits, at least one before the point where they are a text (see `execnodes.lowering.slots.encode`)."""
    unscaled = int(text.strip('"')) * 10 ** (new.scale - old.scale)
    if slot_kind(new) == "l":
        return str(unscaled)
    return f'"{"-" if unscaled < 0 else ""}{abs(unscaled):0{new.scale + 1}d}"'


def _or_null(step: Step) -> Step:
    return lambda node: _NULL if node == _NULL else step(node)


def _items(node: Node) -> Sequence[Node]:
    assert isinstance(node, list)
    return node


def _parsed(text: str) -> Node:
    return _node(iter(_TOKEN.findall(text)))


def _node(tokens: Iterator[str], first: str | None = None) -> Node:
    token = first if first is not None else next(tokens)
    if token == "[":
        items: list[Node] = []
        for each in tokens:
            if each == "]":
                break
            if each != ",":
                items.append(_node(tokens, each))
        return items
    if token == "{":
        members: dict[str, Node] = {}
        for each in tokens:
            if each == "}":
                break
            if each != ",":
                next(tokens)  # the colon
                members[json.loads(each)] = _node(tokens)
        return members
    return token
