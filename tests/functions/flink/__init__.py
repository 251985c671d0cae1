"""What Flink 2.3.0 gave for expressions: types, and values in batch mode, zone UTC.

`results.jsonl` is over the rows of `rows.txt`. A line has an expression, its type and its values in the rows k = 1 to
5, DECIMALs and times as texts with all digits, bytes as x'..'. `differs.txt` lists those that are otherwise here, below
the reason. `nested.jsonl` has expressions drawn at random, and pairs of types, over the rows of `nested_rows.jsonl`;
values are as the format json writes them.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROWS = (FOLDER / "rows.txt").read_text(encoding="utf-8")
NESTED_ROWS = """
CREATE TABLE T (
  id BIGINT NOT NULL, i INT, l BIGINT, si SMALLINT, ti TINYINT, d DECIMAL(10, 2), e DECIMAL(18, 6), f DOUBLE, g FLOAT,
  s STRING, u STRING, c CHAR(3), vc VARCHAR(5), b BOOLEAN, p BOOLEAN, dt DATE, tm TIME(0), ts TIMESTAMP(3),
  tz TIMESTAMP_LTZ(3), t6 TIMESTAMP(6), a ARRAY<INT>, sa ARRAY<STRING>, m MAP<STRING, INT>, r ROW<x INT, y STRING>,
  bin BYTES, j STRING, n INT NOT NULL, nn STRING NOT NULL
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')
""".replace("{path}", str(FOLDER / "nested_rows.jsonl"))


@dataclass(frozen=True)
class Result:
    """What Flink gave for an expression."""

    expression: str
    type: str
    values: list[Any]


def _read(name: str) -> tuple[Result, ...]:
    differs = set((FOLDER / "differs.txt").read_text(encoding="utf-8").splitlines())
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return tuple(each for each in (Result(**json.loads(line)) for line in lines) if each.expression not in differs)


RESULTS = _read("results.jsonl")
NESTED = _read("nested.jsonl")
