"""Writes ``docs/python.md`` from what programs can import from ``rekindle``: ``python -m docs.python_page``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rekindle

PAGE = Path(__file__).with_name("python.md")
_HEAD = """# Rekindle in Python

What programs import, all of it from `rekindle`; names are PyFlink's where PyFlink has them. Each is loaded when it is
asked for, and none starts Spark. What is not here is not promised from release to release, except what the pages on
[connectors](connectors.md), [functions](functions.md) and [testing](testing.md) import.

This page is generated: `make goldens`.
"""


def render() -> str:
    """The page: a table for each class, a line for each function."""
    members = [(name, getattr(rekindle, name)) for name in rekindle.__all__]
    parts = [_HEAD]
    for name, member in members:
        signature = _signature(member) if inspect.isfunction(member) else ""
        parts.append(f"\n## {name}{signature}\n\n{inspect.getdoc(member)}\n")
        methods = [*_methods(member)] if inspect.isclass(member) else []
        if methods:
            parts.append("\n| | |\n|---|---|\n" + "".join(methods))
    return "".join(parts)


def _methods(owner: type) -> Iterator[str]:
    for name in dict.fromkeys(each for base in owner.__mro__[:-1] for each in vars(base)):
        member = inspect.getattr_static(owner, name)
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        text = inspect.getdoc(function)
        if name.startswith("_") or not text:
            continue
        if isinstance(function, property):
            yield _line(name, text)
        elif inspect.isfunction(function):
            yield _line(f"{name}{_signature(function)}", text)


def _signature(function: Any) -> str:
    """Names of parameters; those that need not be given in brackets."""
    found = inspect.signature(function).parameters.values()
    names = [each.name if each.default is each.empty else f"[{each.name}]" for each in found]
    return f"({', '.join(name for name in names if name not in ('self', 'cls'))})"


def _line(title: str, text: str) -> str:
    return f"| `{title}` | {' '.join(text.split()).replace('|', chr(92) + '|')} |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
