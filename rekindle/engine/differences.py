"""What a position has that the one before had not. Lists of files grow for months, and every entry of the log has one.

A difference is JSON itself: ``{"is": value}``; ``{"in": {name: difference}}``, of an object with the same names; or
``{"from": count, "more": [...]}``, of a list that has lost its first values and has more at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def difference(before: Any, after: Any) -> dict[str, Any]:
    """How JSON has changed."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return {"in": {name: difference(before[name], after[name]) for name in after}}
    if isinstance(before, list) and isinstance(after, list) and before:
        if after[: len(before)] == before:
            return {"from": 0, "more": after[len(before) :]}
        gone = len(before) - len(after)
        if gone > 0 and before[gone:] == after:
            return {"from": gone, "more": []}
    return {"is": after}


def changed(before: Any, found: Mapping[str, Any]) -> Any:
    """What `difference` was asked about. ValueError if that is not what has changed."""
    match found:
        case {"is": after}:
            return after
        case {"in": dict(inner)} if isinstance(before, dict) and before.keys() == inner.keys():
            return {name: changed(before[name], each) for name, each in inner.items()}
        case {"from": int(gone), "more": list(more)} if isinstance(before, list) and 0 <= gone <= len(before):
            return [*before[gone:], *more]
    raise ValueError(f"{found} is no difference from what there was")


def all_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Of all names in `after` whose values have changed."""
    return {
        name: difference(before.get(name), value)
        for name, value in after.items()
        if name not in before or value != before[name]
    }


def with_all(before: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """All that there was, changed. ValueError as with `changed`."""
    return {**before, **{name: changed(before.get(name), each) for name, each in found.items()}}
