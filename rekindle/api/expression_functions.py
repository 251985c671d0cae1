"""Methods of expressions that are functions of numbers and texts, by PyFlink's names."""

from __future__ import annotations

from typing import Self

from rekindle.api.operand import Operand, value


class NumberMethods(Operand):
    """Methods of numbers."""

    @property
    def abs(self) -> Self:
        """ABS."""
        return self._call("ABS")

    @property
    def exp(self) -> Self:
        """EXP."""
        return self._call("EXP")

    @property
    def ln(self) -> Self:
        """LN."""
        return self._call("LN")

    @property
    def log10(self) -> Self:
        """LOG10."""
        return self._call("LOG10")

    @property
    def log2(self) -> Self:
        """LOG2."""
        return self._call("LOG2")

    @property
    def sqrt(self) -> Self:
        """SQRT."""
        return self._call("SQRT")

    @property
    def sign(self) -> Self:
        """SIGN."""
        return self._call("SIGN")

    @property
    def sin(self) -> Self:
        """SIN."""
        return self._call("SIN")

    @property
    def cos(self) -> Self:
        """COS."""
        return self._call("COS")

    @property
    def tan(self) -> Self:
        """TAN."""
        return self._call("TAN")

    @property
    def asin(self) -> Self:
        """ASIN."""
        return self._call("ASIN")

    @property
    def acos(self) -> Self:
        """ACOS."""
        return self._call("ACOS")

    @property
    def atan(self) -> Self:
        """ATAN."""
        return self._call("ATAN")

    @property
    def degrees(self) -> Self:
        """DEGREES."""
        return self._call("DEGREES")

    @property
    def radians(self) -> Self:
        """RADIANS."""
        return self._call("RADIANS")

    @property
    def bin(self) -> Self:
        """BIN."""
        return self._call("BIN")

    @property
    def hex(self) -> Self:
        """HEX."""
        return self._call("HEX")

    def mod(self, other: object) -> Self:
        """MOD."""
        return self._call("MOD", other)

    def power(self, exponent: object) -> Self:
        """POWER."""
        return self._call("POWER", exponent)

    def round(self, places: object) -> Self:
        """ROUND."""
        return self._call("ROUND", places)

    def truncate(self, n: object = None) -> Self:
        """TRUNCATE."""
        return self._call("TRUNCATE", n)


class TextMethods(Operand):
    """Methods of texts."""

    @property
    def char_length(self) -> Self:
        """CHAR_LENGTH."""
        return self._call("CHAR_LENGTH")

    @property
    def upper_case(self) -> Self:
        """UPPER."""
        return self._call("UPPER")

    @property
    def lower_case(self) -> Self:
        """LOWER."""
        return self._call("LOWER")

    @property
    def init_cap(self) -> Self:
        """INITCAP."""
        return self._call("INITCAP")

    @property
    def ltrim(self) -> Self:
        """LTRIM."""
        return self._call("LTRIM")

    @property
    def rtrim(self) -> Self:
        """RTRIM."""
        return self._call("RTRIM")

    @property
    def reverse(self) -> Self:
        """REVERSE."""
        return self._call("REVERSE")

    @property
    def ascii(self) -> Self:
        """ASCII."""
        return self._call("ASCII")

    @property
    def from_base64(self) -> Self:
        """FROM_BASE64."""
        return self._call("FROM_BASE64")

    @property
    def to_base64(self) -> Self:
        """TO_BASE64."""
        return self._call("TO_BASE64")

    @property
    def md5(self) -> Self:
        """MD5."""
        return self._call("MD5")

    @property
    def sha1(self) -> Self:
        """SHA1."""
        return self._call("SHA1")

    @property
    def sha224(self) -> Self:
        """SHA224."""
        return self._call("SHA224")

    @property
    def sha256(self) -> Self:
        """SHA256."""
        return self._call("SHA256")

    @property
    def sha384(self) -> Self:
        """SHA384."""
        return self._call("SHA384")

    @property
    def sha512(self) -> Self:
        """SHA512."""
        return self._call("SHA512")

    def sha2(self, hash_length: object) -> Self:
        """SHA2."""
        return self._call("SHA2", hash_length)

    def substring(self, begin_index: object, length: object = None) -> Self:
        """SUBSTRING."""
        return self._call("SUBSTRING", begin_index, length)

    def left(self, length: object) -> Self:
        """LEFT."""
        return self._call("LEFT", length)

    def right(self, length: object) -> Self:
        """RIGHT."""
        return self._call("RIGHT", length)

    def lpad(self, length: object, pad: object) -> Self:
        """LPAD."""
        return self._call("LPAD", length, pad)

    def rpad(self, length: object, pad: object) -> Self:
        """RPAD."""
        return self._call("RPAD", length, pad)

    def repeat(self, n: object) -> Self:
        """REPEAT."""
        return self._call("REPEAT", n)

    def replace(self, search: object, replacement: object) -> Self:
        """REPLACE."""
        return self._call("REPLACE", search, replacement)

    def regexp(self, regex: object) -> Self:
        """REGEXP."""
        return self._call("REGEXP", regex)

    def regexp_replace(self, regex: object, replacement: object) -> Self:
        """REGEXP_REPLACE."""
        return self._call("REGEXP_REPLACE", regex, replacement)

    def regexp_extract(self, regex: object, extract_index: object = None) -> Self:
        """REGEXP_EXTRACT."""
        return self._call("REGEXP_EXTRACT", regex, extract_index)

    def instr(self, text: object) -> Self:
        """INSTR."""
        return self._call("INSTR", text)

    def split_index(self, separator: object, index: object) -> Self:
        """SPLIT_INDEX."""
        return self._call("SPLIT_INDEX", separator, index)

    def str_to_map(self, list_delimiter: object = None, key_value_delimiter: object = None) -> Self:
        """STR_TO_MAP."""
        return self._call("STR_TO_MAP", list_delimiter, key_value_delimiter)

    def parse_url(self, part_to_extract: object, key: object = None) -> Self:
        """PARSE_URL."""
        return self._call("PARSE_URL", part_to_extract, key)

    def json_value(self, path: object) -> Self:
        """JSON_VALUE."""
        return self._call("JSON_VALUE", path)

    def json_exists(self, path: object) -> Self:
        """JSON_EXISTS."""
        return self._call("JSON_EXISTS", path)

    def json_query(self, path: object) -> Self:
        """JSON_QUERY."""
        return self._call("JSON_QUERY", path)

    @property
    def is_json(self) -> Self:
        """``IS JSON``."""
        return self.joined("(", self, " IS JSON)")

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
