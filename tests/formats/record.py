"""Records what Flink's formats make of the matrix: ``python -m tests.formats.record FOLDER``.

FOLDER has `java/Formats.java`, compiled, in `out`, and in `cp.txt` the class path of Flink 2.3 with flink-json,
flink-csv and flink-connector-files, as Maven's `dependency:build-classpath` writes it. Answers go to `answers/`:
nothing but another release of Flink, or more cases, is a reason to write them again.
"""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.formats.matrix import CSV_NESTINGS, MAPS, NESTINGS, TYPES, Case, csv_texts, json_texts

ANSWERS = Path(__file__).parent / "answers"
FORMATS = ("json", "csv", "debezium-json", "canal-json")


def cases(kind: str) -> list[Case]:
    """Those of a format. Change records are nested anyhow, and nest values as json does."""
    if kind == "csv":
        return [
            Case(kind, n, t, x) for n in ("", *CSV_NESTINGS) for t in TYPES if not n or _flat(t) for x in csv_texts()
        ]
    nestings = ("", *NESTINGS) if kind == "json" else ("",)
    return [Case(kind, n, t, x) for n in nestings for t in (*TYPES, *MAPS) for x in json_texts()]


def _flat(t: str) -> bool:
    return not t.startswith(("ROW", "ARRAY"))


def ask(folder: Path, asked: Sequence[tuple[str, str, str, bytes]]) -> list[str]:
    """Flink's answers to format, options, type of the row, and bytes."""
    lines = "".join("\t".join((*a, base64.b64encode(data).decode())) + "\n" for *a, data in asked)
    command = ["java", "-cp", f"{folder / 'out'}:{(folder / 'cp.txt').read_text().strip()}", "Formats"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def record(folder: Path, kind: str) -> None:
    """Write the answers of a format: for each nesting and type the texts with what is strictly and what else given."""
    every = cases(kind)
    strict, lenient = (
        ask(folder, [(kind, options, each.row, each.record().encode()) for each in every])
        for options in ("", "ignore-parse-errors=true")
    )
    found: dict[str, dict[str, list[object]]] = {}
    for case, *answers in zip(every, strict, lenient, strict=True):
        rows = ["!" if answer.startswith("!") else json.loads(answer) for answer in answers]
        found.setdefault(f"{case.nesting} {case.type}", {})[case.text] = rows[:1] if rows[0] == rows[1] else rows
    ANSWERS.mkdir(exist_ok=True)
    text = json.dumps(found, ensure_ascii=True, separators=(",", ":"))
    (ANSWERS / f"{kind}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    for each in FORMATS:
        record(Path(sys.argv[1]), each)
