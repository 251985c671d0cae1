"""Hashes, base64 and character sets."""

from __future__ import annotations

from execnodes.core.expressions import Literal
from execnodes.core.types import BYTES, STRING, char, varchar
from execnodes.functions.function import form, function

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
    since="1.6",
)
ENCODE = function("ENCODE", form("TEXT, TEXT", BYTES), sql="encode({0}, {1})")
_NARROW = {"US-ASCII": r"[^\\x00-\\x7f]", "ISO-8859-1": r"[^\\x00-\\xff]"}
_KNOWN = "".join(f" WHEN '{name}' THEN regexp_replace({{0}}, '{beyond}', '?')" for name, beyond in _NARROW.items())
# Version 1 failed on characters that a set has not got; they are question marks.
ENCODE_2 = function(
    "ENCODE",
    form("TEXT, TEXT", BYTES),
    sql=f"encode(CASE upper({{1}}){_KNOWN} ELSE {{0}} END, {{1}})",
    version=2,
    since="1.3",
    only=lambda t: not isinstance(t[1], Literal) or str(t[1].value).upper() in _NARROW,
)
DECODE = function("DECODE", form("BINARY, TEXT", STRING), sql="decode({0}, {1})")
# Version 1 failed on bytes that are no characters of the set; each is the replacement character.
DECODE_2 = function(
    "DECODE",
    form("BINARY, TEXT", STRING),
    sql="CASE upper({1}) WHEN 'UTF-8' THEN make_valid_utf8(CAST({0} AS STRING)) WHEN 'US-ASCII' THEN"
    " regexp_replace(decode({0}, 'ISO-8859-1'), '[^\\x00-\\x7f]', '\ufffd') ELSE decode({0}, {1}) END",
    version=2,
    since="1.3",
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
