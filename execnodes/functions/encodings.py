"""Hashes, base64 and character sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Literal
from execnodes.core.types import BYTES, STRING, char, varchar
from execnodes.functions.function import Binding, Function, Invocation, Operands, form, function
from execnodes.functions.java_sets import JAVA_SETS, decode_by_java, encode_by_java
from execnodes.functions.scope import Scope
from execnodes.functions.single_byte_sets import SINGLE_BYTE_SETS, decode_bytes, encode_text
from execnodes.lowering.spark_sql import text_literal

MD5 = function("MD5", form("TEXT", char(32)), sql="md5({0})")
SHA1 = function("SHA1", form("TEXT", char(40)), sql="sha1({0})")
SHA = tuple(
    function(f"SHA{bits}", form("TEXT", char(bits // 4)), sql=f"sha2({{0}}, {bits})") for bits in (224, 256, 384, 512)
)
SHA2 = function("SHA2", form("TEXT, INT", varchar(128)), sql="sha2({0}, {1})")
TO_BASE64 = function("TO_BASE64", form("TEXT", STRING), sql="base64(CAST({0} AS BINARY))")
FROM_BASE64 = function("FROM_BASE64", form("TEXT", STRING), sql="CAST(to_binary({0}, 'base64') AS STRING)")
# Version 1 gave a text of bytes that are no characters; each is the replacement character. It took no bytes.
FROM_BASE64_2 = function(
    "FROM_BASE64",
    form("TEXT", STRING),
    form("BINARY", STRING),
    sql="make_valid_utf8(CAST(to_binary(CAST({0} AS STRING), 'base64') AS STRING))",
    version=2,
    since="2.0",
)
ENCODE = function("ENCODE", form("TEXT, TEXT", BYTES), sql="encode({0}, {1})")
_NARROW = {"US-ASCII": r"[^\\x00-\\x7f]", "ISO-8859-1": r"[^\\x00-\\xff]"}
_KNOWN = "".join(f" WHEN '{name}' THEN regexp_replace({{0}}, '{beyond}', '?')" for name, beyond in _NARROW.items())
_ENCODE = f"encode(CASE upper({{1}}){_KNOWN} ELSE {{0}} END, {{1}})"
# Version 1 failed on characters that a set has not got; they are question marks.
ENCODE_2 = function(
    "ENCODE",
    form("TEXT, TEXT", BYTES),
    sql=_ENCODE,
    version=2,
    since="1.3",
    only=lambda t: not isinstance(t[1], Literal) or str(t[1].value).upper() in _NARROW,
)
DECODE = function("DECODE", form("BINARY, TEXT", STRING), sql="decode({0}, {1})")
_DECODE = (
    "CASE upper({1}) WHEN 'UTF-8' THEN make_valid_utf8(CAST({0} AS STRING)) WHEN 'US-ASCII' THEN"
    " regexp_replace(decode({0}, 'ISO-8859-1'), '[^\\x00-\\x7f]', '\ufffd') ELSE decode({0}, {1}) END"
)
# Version 1 failed on bytes that are no characters of the set; each is the replacement character.
DECODE_2 = function(
    "DECODE",
    form("BINARY, TEXT", STRING),
    sql=_DECODE,
    version=2,
    since="1.3",
)
_ALIASES = {
    "UTF-8": ("UTF8", "UNICODE-1-1-UTF-8"),
    "ISO-8859-1": ("LATIN1", "ISO8859_1", "ISO8859-1", "ISO_8859-1", "ISO_8859_1", "8859_1", "L1", "CP819", "819"),
    "US-ASCII": ("ASCII", "ASCII7", "ISO646-US", "646", "CP367", "US"),
    "UTF-16": ("UTF_16", "UTF16", "UNICODE", "UNICODEBIG"),
    "UTF-16BE": ("UTF_16BE", "UNICODEBIGUNMARKED", "X-UTF-16BE", "ISO-10646-UCS-2"),
    "UTF-16LE": ("UTF_16LE", "UNICODELITTLEUNMARKED", "X-UTF-16LE"),
    "UTF-32": ("UTF_32", "UTF32", "ISO-10646-UCS-4"),
}
"""Other names that Java has for the character sets that Spark knows."""
_NAMES = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}
_SINGLE_BYTE = {alias: name for name, aliases in SINGLE_BYTE_SETS.items() for alias in (name, *aliases)}
_KNOWN_NAMES = "".join(f" WHEN '{alias}' THEN '{name}'" for alias, name in _NAMES.items())


_BY_JAVA = {alias: name for name, aliases in JAVA_SETS.items() for alias in (name, *aliases)}
_WIDE = {name: name for name in _ALIASES if name.startswith(("UTF-16", "UTF-32"))}
_WIDE |= {alias: name for alias, name in _NAMES.items() if name in _WIDE}
"""Sets whose bytes Spark fails to read where they are no characters; Java reads them."""


def _with_aliases(
    old: Function, sql: str, single: Callable[[str, str], str], java: Callable[[str, str], str], by_java: dict[str, str]
) -> Function:
    """As `old`, with all names of sets; a constant one may be of a set of single bytes, and any other is refused.

    `by_java`: names of sets that Java reads or writes.
    """

    def bind(call: Invocation) -> Binding | None:
        made = old.bind(call)
        name = made.operands[1].value if made is not None and isinstance(made.operands[1], Literal) else None
        if isinstance(name, str) and name.upper() not in {*_NAMES, *_ALIASES, *_SINGLE_BYTE, *by_java}:
            raise SqlError(
                f"{call.name}: character set {name!r} is not supported",
                position=call.position,
                hint=f"Write one of {', '.join((*_ALIASES, *SINGLE_BYTE_SETS, *JAVA_SETS))}.",
            )
        return made

    def lower(scope: Scope, call: Call) -> str:
        value, name = scope.texts(call.operands)
        constant = call.operands[1]
        if isinstance(constant, Literal):
            written = str(constant.value).upper()
            if found := by_java.get(written):
                return java(value, found)
            if found := _SINGLE_BYTE.get(written):
                return single(value, found)
            name = text_literal(_NAMES.get(written, written))
        else:
            name = f"CASE upper({name}){_KNOWN_NAMES} ELSE {name} END"
        return scope.share_some([value, name], [0, 1], lambda t: sql.format(*t))

    def is_alias(operands: Operands) -> bool:
        name = operands[1]
        return not isinstance(name, Literal) or str(name.value).upper() in {*_NAMES, *_SINGLE_BYTE, *by_java}

    return replace(old, bind=bind, lower=lower, version=3, since="2.0", only=is_alias)


ENCODE_3 = _with_aliases(ENCODE_2, _ENCODE, encode_text, encode_by_java, _BY_JAVA)
DECODE_3 = _with_aliases(DECODE_2, _DECODE, decode_bytes, decode_by_java, _BY_JAVA | _WIDE)


def _may_be_ascii(operands: Operands) -> bool:
    name = operands[1]
    if not isinstance(name, Literal):
        return True
    written = str(name.value).upper()
    return _NAMES.get(written, written) == "US-ASCII"


# Versions before took blanks, y, z and most signs for bytes that are no characters of US-ASCII.
DECODE_4 = replace(
    _with_aliases(
        DECODE_2, _DECODE.replace(r"[^\x00-\x7f]", _NARROW["US-ASCII"]), decode_bytes, decode_by_java, _BY_JAVA | _WIDE
    ),
    version=4,
    since="2.2",
    only=_may_be_ascii,
)

UNHEX = function("UNHEX", form("TEXT", BYTES, nullable=True), sql="unhex({0})")
# Version 1 took the odd digit for a byte of its own; it and the last one are lost, as in Flink.
UNHEX_2 = function(
    "UNHEX",
    form("TEXT", BYTES, nullable=True),
    sql="if(char_length({0}) % 2 = 1 AND unhex({0}) IS NOT NULL,"
    " unhex(concat('00', substring({0}, 2, char_length({0}) - 1))), unhex({0}))",
    version=2,
    since="1.3",
)
