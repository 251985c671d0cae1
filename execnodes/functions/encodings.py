"""Hashes, base64 and character sets."""

from __future__ import annotations

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
ENCODE = function("ENCODE", form("TEXT, TEXT", BYTES, nullable=True), sql="encode({0}, {1})")
DECODE = function("DECODE", form("BINARY, TEXT", STRING, nullable=True), sql="decode({0}, {1})")
UNHEX = function("UNHEX", form("TEXT", BYTES, nullable=True), sql="unhex({0})")
