"""How quotes make records of CSV (RFC 4180, as Flink reads it): which lines a record has, and which are not records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rekindle.connectors.line_text import string

_BLANK = r"[\x00-\x09\x0b\x0c\x0e-\x20]"
"""May follow a closing quote."""
_ENDS = r"\r\n"


@dataclass(frozen=True, slots=True)
class CsvRecords:
    """Splits files into records. A field is quoted if its first character is a quote; others may hold quotes."""

    delimiter: str
    quote: str
    escape: str
    """Empty without one."""
    comments: bool
    """Whether lines that begin with # are none."""

    def is_open(self, line: str) -> str:
        """Spark SQL text: whether the line `line` ends within a quoted field."""
        return f"(contains({line}, {string(self.quote)}) AND {line} RLIKE {string(self._open(_java))})"

    def is_whole(self, line: str) -> str:
        """Spark SQL text: whether each quote that is opened is closed, and nothing follows it."""
        return f"(NOT contains({line}, {string(self.quote)}) OR {line} RLIKE {string(self._whole(_java))})"

    def has_open_line(self, data: bytes) -> bool:
        """Whether any line of a file ends within a quoted field."""
        quote = self.quote.encode()
        if quote not in data:
            return False
        pattern = re.compile(self._open(_python).encode("latin-1"))
        return any(quote in line and pattern.match(line) is not None for line in data.splitlines())

    def split(self, blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
        """The records of a file, without line ends, block by block."""
        quote, pattern = self.quote.encode(), re.compile(self._open(_python).encode("latin-1"))
        rest, held = b"", b""
        for block in blocks:
            lines = (rest + block).splitlines(keepends=True)
            # A block may end between \r and \n, too.
            rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
            found, held = self._join(lines, held, quote, pattern)
            yield found
        found, held = self._join([rest] if rest else [], held, quote, pattern)
        # What is not closed at the end of the file is a bad record.
        yield [*found, held] if held else found

    def _join(
        self, lines: list[bytes], held: bytes, quote: bytes, pattern: re.Pattern[bytes]
    ) -> tuple[list[bytes], bytes]:
        """Records, and the beginning of one that goes on."""
        found = []
        for line in lines:
            if held:
                record = held + line
                goes_on = quote not in line or pattern.match(record) is not None
            else:
                record = line
                comment = self.comments and line.lstrip().startswith(b"#")
                goes_on = not comment and quote in line and pattern.match(record) is not None
            held = record if goes_on else b""
            if not goes_on:
                found.append(_without_end(record))
        return found, held

    def _open(self, char: Callable[[str], str]) -> str:
        field, inner = self._fields(char)
        last = f"{char(self.escape)}?" if self.escape else ""
        return f"(?s)^(?:{field}{char(self.delimiter)})*+{char(self.quote)}{inner}{last}{_end(char)}"

    def _whole(self, char: Callable[[str], str]) -> str:
        field, _ = self._fields(char)
        return f"(?s)^{field}(?:{char(self.delimiter)}{field})*+{_end(char)}"

    def _fields(self, char: Callable[[str], str]) -> tuple[str, str]:
        """A field, and what is in quotes."""
        q, d = char(self.quote), char(self.delimiter)
        escape = self.escape if self.escape != self.quote else ""
        pair = f"|{char(escape)}." if escape else ""
        inner = f"(?:{_but(char, self.quote, escape)}++{pair}|{q}{q})*+"
        bare = f"(?:{_but(char, self.delimiter, escape, ends=True)}++{pair})*+"
        after = f"(?:(?!{d}){_BLANK})*+"
        return f"(?:{q}{inner}{q}{after}|(?!{q}){bare})", inner


def _but(char: Callable[[str], str], *characters: str, ends: bool = False) -> str:
    """Any character but these, and but the ends of lines."""
    some = [char(each) for each in characters if each]
    if char is _java or all(len(each) == len(r"\x00") for each in some):
        return f"[^{''.join(some)}{_ENDS if ends else ''}]"
    return f"(?:(?!{'|'.join(some)}{f'|[{_ENDS}]' if ends else ''}).)"


def _without_end(record: bytes) -> bytes:
    for end in (b"\r\n", b"\n", b"\r"):
        if record.endswith(end):
            return record.removesuffix(end)
    return record


def _end(char: Callable[[str], str]) -> str:
    return r"\Z" if char is _python else r"\z"


def _java(character: str) -> str:
    return f"\\x{{{ord(character):x}}}"


def _python(character: str) -> str:
    """In a pattern for UTF-8, written in Latin-1."""
    return "".join(f"\\x{byte:02x}" for byte in character.encode())
