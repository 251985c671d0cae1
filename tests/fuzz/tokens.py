"""Spark SQL cut into tokens, as far as needed to see what stands outside of constants and quoted names."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*')|(?P<name>`(?:[^`]|``)*`)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[A-Za-z]*)|(?P<space>[ ]+)
    |(?P<mark><=>|->|<>|<=|>=|\|\||[-+*/%=<>(),.\[\]:~&|^])""",
    re.DOTALL | re.VERBOSE,
)


def not_ours(sql: str, mark: str) -> str | None:
    """What is wrong with a text: a mark of the attacker outside of constants and quoted names, a comment, a variable
    that Spark would replace in a constant, an open quote; None if nothing is.
    """
    at, depth, before = 0, 0, ""
    while at < len(sql):
        token = _TOKEN.match(sql, at)
        if token is None:
            return f"{sql[at : at + 40]!r} is no token"
        kind, text = token.lastgroup, token[0]
        if kind not in ("text", "name") and mark in text.lower():
            return f"{text!r} stands among the words"
        if kind == "text" and "${" in text:
            return f"{text!r} has a variable"
        if text in "([":
            depth += 1
        elif text in ")]":
            depth -= 1
        if depth < 0:
            return f"a parenthesis is closed that was never opened, at {sql[at : at + 40]!r}"
        if text == before == "-":
            return "a comment"
        before, at = text, token.end()
    return None if depth == 0 else "a parenthesis is never closed"
