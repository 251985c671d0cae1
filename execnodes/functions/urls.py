r"""PARSE_URL since 2.0: what `java.net.URL` takes for a URL, and which parts it finds.

Blanks around are taken off, the protocol is one that Java has, and nothing else is checked but the port. Spark asks
`java.net.URI`, which takes relative ones and refuses blanks.
"""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import STRING
from execnodes.functions.function import form, function
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_BLANKS = text_literal(r"^[\x00-\x20]+|[\x00-\x20]+\z")
_PROTOCOL = "(https?|ftp|file)"
_HOST = r"(\[[0-9a-fA-F:.]{2,}\]|[^:@/?#\[][^:@/?#]*|)(?::(?:\+?\d{1,9}|-1)?)?"
_SEVERAL = "[^/?#@]*@[^/?#@]*@[^/?#]*"
"""An authority with more than one ``@``: no host is found in it."""
_AUTHORITY = rf"(?!////)//((?:([^@/?#]*)@)?{_HOST}|{_SEVERAL})(?=[/?#]|\z)([^?#]*)"
_PATH_ALONE = "(?!//(?!//))([^?#]*)"
_MAIL = r"(?is)^(?:url:)?mailto:(?=[^#]*\S)([^#]*)(?:#(.*))?\z"
_ARCHIVE = r"(?is)^(?:url:)?jar:((?:https?|ftp|file):[^#]*!/[^#]*)(?:#(.*))?\z"
_UP = (r"/(?!\.\./)[^/]+/\.\.(?=/|\z)", "")
_DOTS = ((r"(?:/\.)+(?=/)", ""), _UP, _UP, _UP, (r"/\.\z", "/"))
"""What is taken out of a path, and what is put there."""


def _url(*, query: str = "?", ref: str = "?") -> str:
    """A URL; its query or what is behind ``#`` has to be there if "" is said.

    Groups: protocol, authority, user, host, path behind an authority, path alone, query with ``?``, query, rest.
    """
    rest = rf"((?:\?([^#]*)){query})(?:#(.*)){ref}\z"
    return rf"(?is)^(?:url:)?{_PROTOCOL}:(?:{_AUTHORITY}|{_PATH_ALONE}){rest}"


def _part(url: str, name: str) -> str:
    """A part of a URL without blanks around, which is repeated; NULL where it has none."""
    whole, mail, archive = text_literal(_url()), text_literal(_MAIL), text_literal(_ARCHIVE)

    def group(number: int, expression: str = whole) -> str:
        return f"regexp_extract({url}, {expression}, {number})"

    def given(expression: str, value: str) -> str:
        return f"if(rlike({url}, {text_literal(expression)}), {value}, NULL)"

    path = f"concat({group(5)}, {group(6)})"
    for found, put in _DOTS:
        path = f"regexp_replace({path}, {text_literal(found)}, {text_literal(put)})"
    other = f"(rlike({url}, {mail}) OR rlike({url}, {archive}))"
    opaque = f"if(rlike({url}, {mail}), {group(1, mail)}, {group(1, archive)})"
    match name:
        case "PROTOCOL":
            protocol = f"lower(regexp_extract({url}, '(?i)^(?:url:)?([a-z]+):', 1))"
            return f"if(rlike({url}, {whole}) OR {other}, {protocol}, NULL)"
        case "HOST":
            return f"CASE WHEN rlike({url}, {whole}) THEN {group(4)} WHEN {other} THEN '' END"
        case "PATH":
            alone = f"regexp_extract({opaque}, {text_literal(_BEFORE_LAST)}, 1)"
            return f"CASE WHEN rlike({url}, {whole}) THEN {path} WHEN {other} THEN {alone} END"
        case "QUERY":
            behind = f"if({other} AND {opaque} LIKE '%?%', substring_index({opaque}, '?', -1), NULL)"
            return f"coalesce({given(_url(query=''), group(8))}, {behind})"
        case "FILE":
            return f"CASE WHEN rlike({url}, {whole}) THEN concat({path}, {group(7)}) WHEN {other} THEN {opaque} END"
        case "REF":
            expression = r"(?s)^[^#]*#(.*)\z"
            behind = f"if({other} AND {url} LIKE '%#%', regexp_extract({url}, {text_literal(expression)}, 1), NULL)"
            return f"coalesce({given(_url(ref=''), group(9))}, {behind})"
        case "AUTHORITY":
            return given(_url().replace(f"|{_PATH_ALONE}", "|(\x00)"), group(2))
        case "USERINFO":
            return (
                f"if(rlike({url}, {whole}) AND {group(2)} LIKE '%@%' AND {group(2)} NOT LIKE '%@%@%', {group(3)}, NULL)"
            )
        case _:
            # Java has no part of another name.
            return "CAST(NULL AS STRING)"


_BEFORE_LAST = r"(?s)^(.*?)(?:\?[^?]*)?\z"
_PARTS = ("PROTOCOL", "HOST", "PATH", "QUERY", "FILE", "REF", "AUTHORITY", "USERINFO")


def _lower(scope: Scope, call: Call) -> str:
    """With a key the value that it has in the query."""
    text, name, *key = scope.texts(call.operands)
    part = call.operands[1]

    def body(url: str) -> str:
        if isinstance(part, Literal):
            return _part(url, str(part.value))
        cases = " ".join(f"WHEN '{each}' THEN {_part(url, each)}" for each in _PARTS)
        return f"CASE {name} {cases} END"

    def value(t: Sequence[str]) -> str:
        query, wanted = t
        pattern = f"concat('(?:&|^)\\\\Q', {wanted}, '\\\\E=([^&]*)')"
        return f"if(rlike({query}, {pattern}), regexp_extract({query}, {pattern}, 1), NULL)"

    trimmed = f"regexp_replace({text}, {_BLANKS}, '')"
    if not key:
        return scope.share(trimmed, body)
    query = scope.share(trimmed, lambda url: _part(url, "QUERY"))
    return f"if({name} = 'QUERY', {scope.share_some([query, key[0]], [0, 1], value)}, NULL)"


PARSE_URL_2 = function(
    "PARSE_URL",
    form("TEXT, TEXT", STRING, nullable=True),
    form("TEXT, TEXT, TEXT", STRING, nullable=True),
    sql=_lower,
    version=2,
    since="2.0",
)
