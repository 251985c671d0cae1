"""What Flink 2.3.0 gave for expressions over the rows of `rows.txt`: types, and values in batch mode, zone UTC.

A line of `results.jsonl` has an expression, its type and its values in the rows k = 1 to 5, DECIMALs and times as texts
with all digits, bytes as x'..'. `differs.txt` lists those that are otherwise here, below the reason.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROWS = (FOLDER / "rows.txt").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Result:
    """What Flink gave for an expression."""

    expression: str
    type: str
    values: list[Any]


def _read() -> tuple[Result, ...]:
    differs = set((FOLDER / "differs.txt").read_text(encoding="utf-8").splitlines())
    lines = (FOLDER / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(each for each in (Result(**json.loads(line)) for line in lines) if each.expression not in differs)


RESULTS = _read()
