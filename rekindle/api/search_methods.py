"""Methods of expressions that search texts and change how they are written, by PyFlink's names."""

from __future__ import annotations

from typing import Self

from rekindle.api.operand import Operand


class SearchMethods(Operand):
    """Functions of a text: the expression is their first operand."""

    def concat(self, other: object) -> Self:
        """The text with another behind it."""
        return self._call("CONCAT", other)

    def starts_with(self, start_expr: object) -> Self:
        """Whether the text begins with another."""
        return self._call("STARTSWITH", start_expr)

    def ends_with(self, end_expr: object) -> Self:
        """Whether the text ends with another."""
        return self._call("ENDSWITH", end_expr)

    def substr(self, begin_index: object, length: object = None) -> Self:
        """As `substring`."""
        return self._call("SUBSTR", begin_index, length)

    def translate(self, from_str: object, to_str: object) -> Self:
        """The text with each character of one text replaced by that of another at the same place."""
        return self._call("TRANSLATE", from_str, to_str)

    def regexp_count(self, regex: object) -> Self:
        """How often a regular expression matches."""
        return self._call("REGEXP_COUNT", regex)

    def regexp_extract_all(self, regex: object, extract_index: object = None) -> Self:
        """The group, by its number, of all matches of a regular expression, as an array."""
        return self._call("REGEXP_EXTRACT_ALL", regex, extract_index)

    def regexp_instr(self, regex: object) -> Self:
        """Where a regular expression matches first, from 1; 0 if it does not."""
        return self._call("REGEXP_INSTR", regex)

    def regexp_substr(self, regex: object) -> Self:
        """The first part of the text that a regular expression matches."""
        return self._call("REGEXP_SUBSTR", regex)

    def locate(self, s: object, pos: object = None) -> Self:
        """Where this text occurs first in another, from a place on; 0 if it does not."""
        return self._call("LOCATE", s, pos)

    def split(self, delimiter: object) -> Self:
        """The parts between delimiters, as an array."""
        return self._call("SPLIT", delimiter)

    def btrim(self, trim_str: object = None) -> Self:
        """Without blanks, or the characters of another text, at both ends."""
        return self._call("BTRIM", trim_str)

    def printf(self, *obj: object) -> Self:
        """The text with values in the places that it has for them, as Java formats them."""
        return self._call("PRINTF", *obj)

    def elt(self, expr: object, *exprs: object) -> Self:
        """The value that has this number, from 1 on."""
        return self._call("ELT", expr, *exprs)

    def encode(self, charset: object) -> Self:
        """The text as bytes of a character set."""
        return self._call("ENCODE", charset)

    def decode(self, charset: object) -> Self:
        """The text that bytes are in a character set."""
        return self._call("DECODE", charset)

    @property
    def chr(self) -> Self:
        """The character with this code."""
        return self._call("CHR")

    @property
    def unhex(self) -> Self:
        """The bytes that hexadecimal digits stand for."""
        return self._call("UNHEX")

    @property
    def url_decode(self) -> Self:
        """The text that was written for an address."""
        return self._call("URL_DECODE")

    @property
    def url_encode(self) -> Self:
        """The text as it is written in an address."""
        return self._call("URL_ENCODE")
