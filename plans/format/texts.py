"""Texts of a plan, before anything else looks at them: what cannot be written to a file, a name or Spark is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from execnodes.core.errors import PlanError

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_VALUES = ("value",)
"""Properties whose texts are data: a NUL may be in them."""


def refuse_wrong_texts(raw: Any, text: str) -> None:
    """PlanError for half a surrogate pair anywhere, and for a NUL in anything that is not data.

    `text`: the JSON that was read; what is looked for is escaped in it, or stands there as it is.
    """
    if "\\u" not in text and (text.isascii() or not _HALF_A_PAIR.search(text)):
        return
    for path, text in _texts(raw):
        if _HALF_A_PAIR.search(text):
            what = "a text holds half a surrogate pair, which is no character"
        elif "\0" in text and not path.endswith(_VALUES):
            what = "a name or an option holds the character NUL"
        else:
            continue
        raise PlanError(what, where=path.lstrip("."), hint="Correct the property, or compile the plan anew.")


def _texts(raw: Any) -> Iterator[tuple[str, str]]:
    """Path and text of every text, names of properties among them; without recursion."""
    rest: list[tuple[str, Any]] = [("", raw)]
    while rest:
        path, value = rest.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            for key, each in value.items():
                yield path or "(top level)", key
                rest.append((f"{path}.{key}", each))
        elif isinstance(value, list):
            rest += [(f"{path}[{at}]", each) for at, each in enumerate(value)]
