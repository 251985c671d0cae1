"""Character sets of single bytes that Spark has not got, in Spark SQL: texts are mapped to ISO-8859-1 and back."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from execnodes.lowering.spark_sql import text_literal

_NUMBERED = {
    "WINDOWS-{}": (("1250", "1251", "1252", "1253", "1254", "1257"), "cp{}", ("CP{}",)),
    "ISO-8859-{}": (("2", "5", "7", "9", "15"), "iso8859-{}", ("ISO8859-{}", "ISO8859_{}", "ISO_8859-{}", "8859_{}")),
    "IBM{}": (("037", "437", "500", "850"), "cp{}", ("CP{}", "IBM-{}", "{}")),
}
_CODECS = {
    name.format(number): codec.format(number) for name, (numbers, codec, _) in _NUMBERED.items() for number in numbers
} | {"KOI8-R": "koi8-r"}
SINGLE_BYTE_SETS = {
    name.format(number): tuple(alias.format(number) for alias in aliases)
    for name, (numbers, _, aliases) in _NUMBERED.items()
    for number in numbers
} | {"KOI8-R": ("KOI8", "KOI8_R")}
"""Names of Java, in capitals, and others that Java has for them."""
_LINE_ENDS = ("\n", "\x85")
_UNKNOWN = "\ufffd"
_QUESTION_MARK = 0x3F
"""What Java writes for a character that a set has not got, whatever the byte means there."""


def encode_text(text: str, name: str) -> str:
    """Spark SQL of the bytes of a text in the set `name`."""
    characters = _characters(name)
    bytes_of = {each: chr(at) for at, each in reversed(list(enumerate(characters))) if each != _UNKNOWN}
    if name in ("IBM037", "IBM500"):
        bytes_of[_LINE_ENDS[1]] = bytes_of[_LINE_ENDS[0]]
    known = _ranges(sorted(map(ord, bytes_of)))
    cleaned = f"regexp_replace({text}, {text_literal(f'[^{known}]')}, {text_literal(characters[_QUESTION_MARK])})"
    return f"encode({_translated(cleaned, list(bytes_of.items()))}, 'ISO-8859-1')"


def decode_bytes(value: str, name: str) -> str:
    """Spark SQL of the text that bytes are in the set `name`."""
    pairs = [(chr(at), each) for at, each in enumerate(_characters(name))]
    return _translated(f"decode({value}, 'ISO-8859-1')", pairs)


@lru_cache
def _characters(name: str) -> str:
    """The character of each byte: as in Python, but that IBM's new line is Java's."""
    found = bytes(range(256)).decode(_CODECS[name], "replace")
    return found.replace(_LINE_ENDS[1], _LINE_ENDS[0]) if name in ("IBM037", "IBM500") else found


def _translated(text: str, pairs: list[tuple[str, str]]) -> str:
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    old, new = ("".join(each) for each in zip(*changed, strict=True))
    return f"translate({text}, {text_literal(old)}, {text_literal(new)})"


def _ranges(codes: list[int]) -> str:
    """Characters as members of a class in a regular expression."""
    starts = [codes[0], *(b for a, b in pairwise(codes) if b != a + 1)]
    ends = [*(a for a, b in pairwise(codes) if b != a + 1), codes[-1]]
    return "".join(rf"\x{{{a:x}}}-\x{{{b:x}}}" for a, b in zip(starts, ends, strict=True))
