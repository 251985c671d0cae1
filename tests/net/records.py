"""The files of records: one a line, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FUNCTIONS = Path(__file__).with_name("functions.jsonl")
OPERATORS = Path(__file__).with_name("operators.jsonl")
QUERIES = Path(__file__).with_name("queries.jsonl")
FILES = {"functions": FUNCTIONS, "operators": OPERATORS, "queries": QUERIES}
Record = dict[str, Any]


def read(path: Path) -> list[Record]:
    """All records of a file; none if it is not there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def write(path: Path, records: Iterable[Record]) -> None:
    """Write a file; what is in it stays, since `record` begins with what it has read."""
    lines = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
