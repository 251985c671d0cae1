"""Which patterns Java's Formatter takes, as regular expressions that Java and Python read alike.

The rules are those of `java.util.Formatter`: a field is ``%[number$|<][flags][width][.digits]letter``, and which flags
and digits it may have hangs on its letter. Whatever breaks a rule throws there.
"""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.types import INTEGERS, LogicalType, Root

_FLAGS = r"[-#+ 0,(]*"
_WIDTH = r"[1-9][0-9]{0,8}"
_DIGITS = r"(?:\.[0-9]{1,9})?"
_PADDED = f"(?:-?{_WIDTH})?"
_ONCE = "".join(f"(?!{_FLAGS}{flag}{_FLAGS}{flag})" for flag in ("-", "#", r"\+", " ", "0", ",", r"\("))
_ONE_OF = "".join(f"(?!{_FLAGS}{a}{_FLAGS}{b})" for a, b in ((r"\+", " "), (" ", r"\+"), ("-", "0"), ("0", "-")))
_TEXT = f"(?:[^%]++|%(?:[1-9][0-9]*\\$)?(?:{_PADDED}%|n))"


def _number(letters: str, flags: str, digits: str = "") -> str:
    """Fields of numbers: what is padded has a width."""
    sparse = f"[{flags}]*" if flags else ""
    return f"{_ONCE}{_ONE_OF}(?:{sparse}(?:{_WIDTH})?|[-0{flags}]*{_WIDTH}){digits}[{letters}]"


_GENERAL = f"{_PADDED}{_DIGITS}[bBhHsS]"
_CHARACTER = f"{_PADDED}[cC]"
_TIME = f"{_PADDED}[tT][HIklMSLNpzZsQBbhAaCYyjmdeRTrDFc]"
_WHOLE = f"{_number('d', '+ ,(')}|{_number('oxX', '#')}"
_POINTED = "|".join(
    (
        _number("f", "#+ ,(", _DIGITS),
        _number("eE", "#+ (", _DIGITS),
        _number("gG", "+ ,(", _DIGITS),
        _number("aA", "#+ ", _DIGITS),
    )
)

ANY = f"(?:{'|'.join((_GENERAL, _CHARACTER, _TIME, _WHOLE, _number('oxX', '#+ ('), _POINTED))})"
"""Fields that take NULL."""
CHARACTERS = f"(?:{_GENERAL}|{_CHARACTER}|{_WHOLE})"
"""Fields that take a whole number of up to 32 bits which is a character."""


def fields(t: LogicalType) -> str:
    """Fields that take every value of a type."""
    if t.root is Root.BIGINT:
        return f"(?:{_GENERAL}|{_TIME}|{_WHOLE})"
    if t.root in INTEGERS:
        return f"(?:{_GENERAL}|{_WHOLE})"
    if t.root in (Root.FLOAT, Root.DOUBLE):
        return f"(?:{_GENERAL}|{_POINTED})"
    return f"(?:{_GENERAL})"


def whole(values: Sequence[str]) -> str:
    """Patterns whose fields take values, by the fields that each takes; all of a text must be matched."""
    units = [f"{each}(?:{_TEXT}|%<{each})*+" for each in values]
    chosen = "|".join(f"%{number}\\${unit}" for number, unit in enumerate(units, start=1))
    between = f"(?:{chosen})*+" if chosen else ""
    ordered = ""
    for unit in reversed(units):
        ordered = f"(?:%{unit}{between}{ordered})?+"
    return f"{_TEXT}*+{between}{ordered}"
