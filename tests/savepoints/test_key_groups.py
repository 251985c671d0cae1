"""Key groups without a JVM are those that Spark computes when a savepoint is restored."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.core.types import parse_type
from execnodes.engine.hashes import _of_bytes
from execnodes.terms.term import leaf
from rekindle.savepoints.database import connected, paths, select
from rekindle.savepoints.file_columns import arrow_type, duckdb_type
from rekindle.savepoints.key_groups import key_groups
from rekindle.savepoints.manifest import SavedState, checksum
from rekindle.savepoints.reader import _key_groups
from rekindle.savepoints.restore import _encoded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = 1000
_DAY = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)
VALUES: dict[str, list[Any]] = {
    "BIGINT": [0, -1, 2**63 - 1, -(2**63), 42],
    "INT": [7, -7],
    "STRING": ["", "a", "four", "eight888", "größer", "x" * 31, "y" * 32, "z" * 33, "w" * 100],
    "VARCHAR(3)": ["ab", "abc"],
    "BYTES": [b"", b"\x00\xff", b"\x80" * 45],
    "BOOLEAN": [True, False],
    "DOUBLE": [0.0, -0.0, 1.5, float("nan"), float("inf"), -1e300],
    "FLOAT": [0.0, -0.0, 0.1, float("-inf")],
    "DECIMAL(10, 2)": [Decimal("0.05"), Decimal("-0.05"), Decimal("12345678.90")],
    "DECIMAL(18, 0)": [Decimal(10**17), Decimal(-3)],
    "DECIMAL(38, 10)": [Decimal("0.0000000001"), Decimal("-1234567890123456789012345678.5"), Decimal(0)],
    "DATE": [date(1969, 12, 31), date(2024, 2, 29), date(1, 1, 1)],
    "TIME(3)": [0, 86_399_999],
    "TIMESTAMP(3)": [_DAY.replace(tzinfo=None), datetime(1900, 1, 1), datetime(2024, 3, 31, 2, 30, 0, 123456)],
    "TIMESTAMP_LTZ(3)": [_DAY, _DAY - timedelta(days=40_000, microseconds=1)],
    "ARRAY<INT>": ["[1,2]", "[]"],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_texts_hash_as_in_the_reference_implementation(text: bytes, expected: int) -> None:
    assert _of_bytes(pa.array([text], pa.large_binary()), np.zeros(1, np.uint64))[0] == expected


def test_rows_without_a_key_are_of_one_group() -> None:
    assert key_groups([], 3, 8).tolist() == [0, 0, 0]


def test_null_leaves_the_hash_of_the_columns_before() -> None:
    one, none = pa.array([5]), pa.array([None], pa.int64())
    alone = key_groups([one], 1, 2**60)
    assert alone == key_groups([one, none], 1, 2**60) == key_groups([none, one], 1, 2**60)
    assert key_groups([none], 1, 2**60)[0] == 42


def write(folder: Path) -> SavedState:
    """A state whose key has a column of each type."""
    chance = random.Random(11)
    table = {}
    for i, (text, values) in enumerate(VALUES.items()):
        column = [*values, None, *(chance.choice([*values, None]) for _ in range(60 - len(values)))]
        table[f"c{i}"] = pa.array(column, arrow_type(parse_type(text)))
    pq.write_table(pa.table(table), folder / "rows.parquet")
    schema = tuple((f"c{i}", text) for i, text in enumerate(VALUES))
    columns = tuple(leaf("column", each) for each in table)
    return SavedState(
        "1_x", "s", schema, tuple(table), False, 0, {}, columns, (), GROUPS, 61, 0,
        {"rows.parquet": checksum(folder / "rows.parquet")},
    )  # fmt: skip


def test_types_of_files_are_those_of_duckdb(tmp_path: Path) -> None:
    state = write(tmp_path)
    with connected(tmp_path) as connection:
        relation = connection.sql(select(state, paths(tmp_path, state)))
        assert [str(t).replace(",", ", ") for t in relation.types] == [duckdb_type(parse_type(t)) for t in VALUES]


@pytest.mark.spark
def test_groups_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    state = write(tmp_path)
    types = {name: parse_type(text) for name, text in state.schema}
    encoded = [_encoded(t, name) for name, t in types.items()]
    texts = [*(f"xxhash64({each})" for each in encoded), f"xxhash64({', '.join(encoded)})"]
    rows = spark.read.parquet((tmp_path / "rows.parquet").as_uri()).coalesce(1)
    expected: np.ndarray[Any, Any] = np.array(
        rows.selectExpr(*(f"CAST(pmod({text}, {GROUPS}) AS INT) AS c{i}" for i, text in enumerate(texts))).collect()
    )
    with connected(tmp_path) as connection:
        for i, key in enumerate([*((name,) for name in types), tuple(types)]):
            keyed = SavedState(**{**vars(state), "key": key})
            found = np.concatenate(list(_key_groups(connection, keyed, select(state, paths(tmp_path, state)), GROUPS)))
            assert found.tolist() == expected[:, i].tolist(), key
