"""JSON texts of which Spark keeps how each value is written, as Spark SQL texts.

`from_json` gives a text for whatever is there for a STRING, but it writes numbers again, and does not say whether a
text that looks like an object is one. In a *marked* text every text begins with ``s``, and every number and truth
value is a text that begins with ``n``: ``{"a": 1.10, "b": "x"}`` is ``{"sa": "n1.10", "sb": "sx"}``. What `from_json`
then gives as STRING begins with ``s``, ``n``, ``{`` or ``[``, and what follows is as it is written.
"""

from __future__ import annotations

from execnodes.lowering.stream import quote
from rekindle.connectors.line_text import string

_OPTIONS = "'allowSingleQuotes', 'false', 'allowUnquotedControlChars', 'true', 'allowNonNumericNumbers', 'false'"
FIRST_OPTIONS = f"{_OPTIONS}, 'locale', 'de-CH'"
"""The same where numbers are read. With the locale en-US, Spark leaves out all commas of a DECIMAL in a text."""
OPTIONS = f"map({_OPTIONS})"
"""For `from_json`: what Flink takes and Spark does not, and the reverse."""
TORN = "\uffff\ufdd0\uffff"
"""Stands in a marked text for half a character (a lone surrogate), which UTF-8 has no form for."""

_ESCAPE = r"\ud800"
_REST = r'(?:[^"\\]++|\\.)*+"'
"""Of a text, after its first quote. Repetitions are possessive: for others Java's regular expressions are recursive."""
_TEXT = rf'(?s)"({_REST})'
_MARKED_TEXT = rf'(?s)"s({_REST})'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+(?![0-9.eE+-])"
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = rf"((?<!\\)(?:\\\\)*+)(?:{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW})"


def is_torn(line: str) -> str:
    """Whether a line has an escape for half a character; Java's texts may, UTF-8 cannot, so '?' would come of it."""
    perhaps = " OR ".join(f"contains({line}, {string(start)})" for start in ("\\ud", "\\uD"))
    return f"({perhaps}) AND {line} RLIKE {string(_HALF)}"


def marked(line: str) -> str:
    """The marked text of a JSON text; of what is not JSON, something that is not JSON either."""
    replaced = f"regexp_replace({line}, {string(_HALF)}, '$1{TORN}')"
    whole = f"CASE WHEN {is_torn(line)} THEN {replaced} ELSE {line} END"
    texts = f"regexp_replace({whole}, {string(_TEXT)}, '\"s$1')"
    scalars = rf'(?s)\G((?:[^"0-9tf-]++|"s{_REST})*+)({_NUMBER}|true|false)'
    return f"regexp_replace({texts}, {string(scalars)}, '$1\"n$2\"')"


def elements(line: str) -> str:
    """The JSON texts of the elements of a line that is an array, without NULLs; of another line the line itself."""
    # A text or a number is not an object, whatever it looks like.
    element = f"CASE WHEN substr(e, 1, 1) IN ('{{', '[') THEN {_unmarked('e')} WHEN e IS NOT NULL THEN '0' END"
    texts = f"transform(from_json({marked(line)}, 'ARRAY<STRING>', {OPTIONS}), e -> {element})"
    given = f"coalesce(filter({texts}, e -> e IS NOT NULL), array({line}))"
    is_array = f"substr({line}, 1, 1) IN ('[', ' ', '\\t') AND {line} RLIKE '^[ \\t]*\\\\['"
    return f"CASE WHEN {is_array} THEN {given} ELSE array({line}) END"


def written(x: str) -> str:
    """The JSON text of an object or array from its marked text, as Flink writes it: compact, fractions as DOUBLEs."""
    return number_text(_unmarked(x))


def _unmarked(x: str) -> str:
    """The JSON text that a marked text was made of."""
    scalars = rf'(?s)\G((?:[^"]++|"s{_REST})*+)"n([^"]*+)"'
    again = f"regexp_replace({x}, {string(scalars)}, '$1$2')"
    texts = f"regexp_replace({again}, {string(_MARKED_TEXT)}, '\"$1')"
    return f"replace({texts}, '{TORN}', {string(_ESCAPE)})"


def number_text(x: str) -> str:
    """A number (or what holds numbers) as Jackson writes what it has read."""
    return f"from_json(concat('{{\"a\":', {x}, '}}'), 'a STRING', {OPTIONS}).a"


def members(x: str, names: tuple[str, ...], bad: str = "rk_none") -> str:
    """Of a marked text of an object: a struct of its marked values; `bad` is the whole text where that is not JSON."""
    schema = ", ".join(f"{name}: STRING" for name in (*(member(each) for each in names), bad))
    return f"from_json({x}, {string(f'STRUCT<{schema}>')}, map({_OPTIONS}, 'columnNameOfCorruptRecord', '{bad}'))"


def member(name: str) -> str:
    """What `members` calls a field."""
    return quote(f"s{name}")
