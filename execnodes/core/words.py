"""Words for people."""

from __future__ import annotations


def counted(number: int, noun: str, several: str | None = None) -> str:
    """``1 row``, ``2,000 rows``; `several` where the plural has no s of its own."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


_STEERING = {
    each: f"\\u{each:04x}"
    for span in (range(0x20), range(0x7F, 0xA0), range(0x2028, 0x202F), range(0x2066, 0x206A))
    for each in span
    if chr(each) not in "\t\n"
}


def plain(text: str) -> str:
    """The text with escapes, as JSON has them, for what would steer a terminal or turn the order of letters around.

    Control characters of ASCII and of ISO 8859-1 but for tabs and ends of lines, other ends of lines, and Unicode's
    overrides of direction: names and constants of a plan may hold all of them.
    """
    return text.translate(_STEERING)


def one_line(text: str) -> str:
    """`plain` text without an end of line: nothing in it stands at the beginning of a line of its own."""
    return plain(text).replace("\n", "\\n")
