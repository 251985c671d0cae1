"""Names that are no trouble to the file system, and were or might be to what reads and writes files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

NAMES = (
    "a b", "a ", "a%b", "a%20b", "a#b", "a?b", "a*b", "**", "a[ab]b", "[!a]", "[]a]", "a]b", "a{a,b}b", "a'b", 'a"b',
    "a`b", "a\\b", "\\[a", "a,b", "a:b", "file:a", "a+b", "~a", "a$b", "a${env:HOME}b", "a${user.name}b", "a${x}",
    "a\nb", "a\tb", "aéb", "ae\u0301b", "😀", "-a", "--a", ".a", "_a", "k=v", "a;b", "a&b", "a|b", "a<b>", "a!b", "a@b",
    "a^b", "(a)", "a=b=c", "s3:", "NULL", "a" * 200, "é" * 100,
)  # fmt: skip
"""Each may be the name of a folder."""
ALL_IN_ONE = "a b%20#[ab]{a,b}?*'\"`\\,+~$é\n=;&"
"""Nearly all of them at once; without a colon, with which Spark cannot read streams here."""
DATABASE = ALL_IN_ONE.replace("?", "").replace("\\", "")
"""DuckDB has no way to write the two."""


def neighbours(folder: Path) -> None:
    """Put folders beside, which patterns would match, with a file that nobody has asked for."""
    for name in ("a", "b", "ab", "aab", "abb", "aXb"):
        (folder / name).mkdir(exist_ok=True)
        pq.write_table(pa.table({"k": [-1], "v": [-1]}), folder / name / "f.parquet")
