"""What Flink 2.3.0 gave for expressions: types, and values in batch mode, zone UTC.

`results.jsonl` is over the rows of `rows.txt`. A line has an expression, its type and its values in the rows k = 1 to
5, DECIMALs and times as texts with all digits, bytes as x'..'. `differs.txt` lists those that are otherwise here, below
the reason. `nested.jsonl` has expressions drawn at random, and pairs of types, over the rows of `nested_rows.jsonl`;
values are as the format json writes them. `types.txt` has types alone, over `TYPED_COLUMNS`.
`selects/` has whole SELECTs, a file a subject.
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
TYPED_COLUMNS = """
CREATE TABLE T (
  s STRING, sn STRING NOT NULL, c CHAR(3), cn CHAR(4) NOT NULL, v VARCHAR(5), vn VARCHAR(6) NOT NULL, `by`
  BYTES, byn BYTES NOT NULL, bi BINARY(3), bin BINARY(4) NOT NULL, i INT, in_ INT NOT NULL, l BIGINT, ln_ BIGINT
  NOT NULL, b BOOLEAN, bn BOOLEAN NOT NULL, d DOUBLE, dn DOUBLE NOT NULL, x DECIMAL(10, 2), xn DECIMAL(12, 3)
  NOT NULL, ai ARRAY<INT>, ain ARRAY<INT> NOT NULL, aixn ARRAY<INT NOT NULL>, ainn ARRAY<INT NOT NULL> NOT NULL,
  a_s ARRAY<STRING>, asn ARRAY<STRING NOT NULL> NOT NULL, ac ARRAY<CHAR(3)>, m MAP<STRING, INT>, mn MAP<STRING
  NOT NULL, INT NOT NULL> NOT NULL, mxn MAP<STRING NOT NULL, INT> NOT NULL, dt DATE, dtn DATE NOT NULL, ts
  TIMESTAMP(3), tsn TIMESTAMP(6) NOT NULL, tm TIME(0), tmn TIME(0) NOT NULL, tz TIMESTAMP_LTZ(3), tzn
  TIMESTAMP_LTZ(3) NOT NULL, r ROW<p INT, q STRING NOT NULL>, rn ROW<p INT NOT NULL, q STRING> NOT NULL, ar
  ARRAY<ROW<k STRING, v INT>>, arn ARRAY<ROW<k STRING NOT NULL, v INT NOT NULL> NOT NULL> NOT NULL, ms
  MULTISET<INT>, msn MULTISET<INT NOT NULL> NOT NULL
) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')
"""
"""Columns of all types, each also NOT NULL; it has no rows."""


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
TYPES: tuple[tuple[str, str], ...] = tuple(
    (expression, t)
    for expression, _, t in (
        line.partition(" => ") for line in (FOLDER / "types.txt").read_text(encoding="utf-8").splitlines()
    )
)
"""Expression over `TYPED_COLUMNS`, and its type."""
