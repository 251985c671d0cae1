"""Methods of expressions that are functions of numbers and texts, by PyFlink's names."""

from __future__ import annotations

from typing import Self

from rekindle.api.operand import Operand, value


class NumberMethods(Operand):
    """Functions of a number: the expression is their first operand."""

    @property
    def abs(self) -> Self:
        """The number without its sign."""
        return self._call("ABS")

    @property
    def exp(self) -> Self:
        """Euler's number to the power of this one."""
        return self._call("EXP")

    @property
    def ln(self) -> Self:
        """The logarithm to base e."""
        return self._call("LN")

    @property
    def log10(self) -> Self:
        """The logarithm to base 10."""
        return self._call("LOG10")

    @property
    def log2(self) -> Self:
        """The logarithm to base 2."""
        return self._call("LOG2")

    def log(self, base: object = None) -> Self:
        """The logarithm to a base, which is e if none is given."""
        return self._call("LN") if base is None else self.joined("LOG(", value(base), ", ", self, ")")

    @property
    def sqrt(self) -> Self:
        """The square root."""
        return self._call("SQRT")

    @property
    def sign(self) -> Self:
        """-1 below zero, 1 above, 0 for zero."""
        return self._call("SIGN")

    @property
    def sin(self) -> Self:
        """The sine of an angle in radians."""
        return self._call("SIN")

    @property
    def cos(self) -> Self:
        """The cosine of an angle in radians."""
        return self._call("COS")

    @property
    def tan(self) -> Self:
        """The tangent of an angle in radians."""
        return self._call("TAN")

    @property
    def cot(self) -> Self:
        """The cotangent of an angle in radians."""
        return self._call("COT")

    @property
    def sinh(self) -> Self:
        """The hyperbolic sine."""
        return self._call("SINH")

    @property
    def cosh(self) -> Self:
        """The hyperbolic cosine."""
        return self._call("COSH")

    @property
    def tanh(self) -> Self:
        """The hyperbolic tangent."""
        return self._call("TANH")

    @property
    def asin(self) -> Self:
        """The angle in radians that has this sine."""
        return self._call("ASIN")

    @property
    def acos(self) -> Self:
        """The angle in radians that has this cosine."""
        return self._call("ACOS")

    @property
    def atan(self) -> Self:
        """The angle in radians that has this tangent."""
        return self._call("ATAN")

    @property
    def degrees(self) -> Self:
        """An angle in radians, in degrees."""
        return self._call("DEGREES")

    @property
    def radians(self) -> Self:
        """An angle in degrees, in radians."""
        return self._call("RADIANS")

    @property
    def bin(self) -> Self:
        """The binary digits of an integer, as a text."""
        return self._call("BIN")

    @property
    def hex(self) -> Self:
        """The hexadecimal digits of an integer or of the bytes of a text, as a text."""
        return self._call("HEX")

    def mod(self, other: object) -> Self:
        """What is left of the number divided by another, with its sign."""
        return self._call("MOD", other)

    def power(self, exponent: object) -> Self:
        """The number to the power of another."""
        return self._call("POWER", exponent)

    def round(self, places: object) -> Self:
        """The number with so many digits behind the point, half away from zero."""
        return self._call("ROUND", places)

    def truncate(self, n: object = None) -> Self:
        """The number cut to so many digits behind the point."""
        return self._call("TRUNCATE", n)


class TextMethods(Operand):
    """Functions of a text: the expression is their first operand."""

    @property
    def char_length(self) -> Self:
        """How many characters the text has."""
        return self._call("CHAR_LENGTH")

    @property
    def upper_case(self) -> Self:
        """The text in capitals."""
        return self._call("UPPER")

    @property
    def lower_case(self) -> Self:
        """The text in small letters."""
        return self._call("LOWER")

    @property
    def init_cap(self) -> Self:
        """INITCAP."""
        return self._call("INITCAP")

    @property
    def ltrim(self) -> Self:
        """The text without blanks in front."""
        return self._call("LTRIM")

    @property
    def rtrim(self) -> Self:
        """The text without blanks behind."""
        return self._call("RTRIM")

    @property
    def reverse(self) -> Self:
        """The characters from the last to the first."""
        return self._call("REVERSE")

    @property
    def ascii(self) -> Self:
        """The code of the first character."""
        return self._call("ASCII")

    @property
    def from_base64(self) -> Self:
        """The text that was written in base 64."""
        return self._call("FROM_BASE64")

    @property
    def to_base64(self) -> Self:
        """The text in base 64."""
        return self._call("TO_BASE64")

    @property
    def md5(self) -> Self:
        """A fingerprint of 32 hexadecimal digits."""
        return self._call("MD5")

    @property
    def sha1(self) -> Self:
        """A fingerprint of 40 hexadecimal digits."""
        return self._call("SHA1")

    @property
    def sha224(self) -> Self:
        """A fingerprint of 56 hexadecimal digits."""
        return self._call("SHA224")

    @property
    def sha256(self) -> Self:
        """A fingerprint of 64 hexadecimal digits."""
        return self._call("SHA256")

    @property
    def sha384(self) -> Self:
        """A fingerprint of 96 hexadecimal digits."""
        return self._call("SHA384")

    @property
    def sha512(self) -> Self:
        """A fingerprint of 128 hexadecimal digits."""
        return self._call("SHA512")

    def sha2(self, hash_length: object) -> Self:
        """A fingerprint of so many bits (224, 256, 384 or 512), as hexadecimal digits."""
        return self._call("SHA2", hash_length)

    def substring(self, begin_index: object, length: object = None) -> Self:
        """The characters from a place on, the first is 1; all that follow, or so many."""
        return self._call("SUBSTRING", begin_index, length)

    def left(self, length: object) -> Self:
        """So many characters from the left."""
        return self._call("LEFT", length)

    def right(self, length: object) -> Self:
        """So many characters from the right."""
        return self._call("RIGHT", length)

    def lpad(self, length: object, pad: object) -> Self:
        """The text filled on the left, or cut, to a length."""
        return self._call("LPAD", length, pad)

    def rpad(self, length: object, pad: object) -> Self:
        """The text filled on the right, or cut, to a length."""
        return self._call("RPAD", length, pad)

    def repeat(self, n: object) -> Self:
        """The text so many times."""
        return self._call("REPEAT", n)

    def replace(self, search: object, replacement: object) -> Self:
        """The text with another in all places where a text occurs."""
        return self._call("REPLACE", search, replacement)

    def regexp(self, regex: object) -> Self:
        """Whether a part of the text matches a regular expression of Java."""
        return self._call("REGEXP", regex)

    def regexp_replace(self, regex: object, replacement: object) -> Self:
        """The text with another where a regular expression matches."""
        return self._call("REGEXP_REPLACE", regex, replacement)

    def regexp_extract(self, regex: object, extract_index: object = None) -> Self:
        """The group, by its number, of the first match of a regular expression."""
        return self._call("REGEXP_EXTRACT", regex, extract_index)

    def instr(self, text: object) -> Self:
        """Where a text occurs first, from 1; 0 if it does not."""
        return self._call("INSTR", text)

    def split_index(self, separator: object, index: object) -> Self:
        """The part with a number, from 0, of those between separators."""
        return self._call("SPLIT_INDEX", separator, index)

    def str_to_map(self, list_delimiter: object = None, key_value_delimiter: object = None) -> Self:
        """A map of pairs such as ``a=1,b=2``."""
        return self._call("STR_TO_MAP", list_delimiter, key_value_delimiter)

    def parse_url(self, part_to_extract: object, key: object = None) -> Self:
        """A part of an address, e.g. ``"HOST"``; of a query the value of a key."""
        return self._call("PARSE_URL", part_to_extract, key)

    def like(self, pattern: object) -> Self:
        """``LIKE``: ``%`` is any text, ``_`` any character."""
        return self._binary("LIKE", pattern)

    def similar(self, pattern: object) -> Self:
        """``SIMILAR TO``: a regular expression of SQL."""
        return self._binary("SIMILAR TO", pattern)

    def position(self, haystack: object) -> Self:
        """Place of this text in another, from 1 on; 0 if it is not in it."""
        return self.joined("POSITION(", self, " IN ", value(haystack), ")")

    def trim(self, character: object = " ") -> Self:
        """Without the character at both ends."""
        return self._trimmed("BOTH", character)

    def trim_leading(self, character: object = " ") -> Self:
        """Without the character at the beginning."""
        return self._trimmed("LEADING", character)

    def trim_trailing(self, character: object = " ") -> Self:
        """Without the character at the end."""
        return self._trimmed("TRAILING", character)

    def overlay(self, new_string: object, starting: object, length: object = None) -> Self:
        """The text with a part replaced."""
        parts = ["OVERLAY(", self, " PLACING ", value(new_string), " FROM ", value(starting)]
        return self.joined(*parts, *([] if length is None else [" FOR ", value(length)]), ")")

    def _trimmed(self, side: str, character: object) -> Self:
        return self.joined(f"TRIM({side} ", value(character), " FROM ", self, ")")
