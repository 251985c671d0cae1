"""Rows get back in Python what they were spared on their way there."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from execnodes.engine.hashes import hashes
from execnodes.engine.inlet import Inlet, Spread
from execnodes.engine.slot_frames import SUBTASK, TAG
from execnodes.lowering.stream import HASH, KIND

ROWS = pa.RecordBatch.from_pydict({"l0": pa.array([5, None, -7], pa.int64()), "s0": pa.array(["a", "b", None])})


def test_columns_of_one_value_and_the_hash_of_the_key_are_added() -> None:
    frame = Inlet({TAG: 4, KIND: 0}, ("l0",)).read([ROWS, ROWS])
    assert frame.height == 6
    assert frame.schema[TAG] == pl.Int32
    assert frame.schema[KIND] == pl.Int8
    assert frame[TAG].to_list() == [4] * 6
    assert frame[HASH].to_list() == [*hashes([ROWS["l0"]], 3)] * 2
    # A key of nothing but NULL keeps the seed.
    assert frame[HASH][1] == 42


def test_texts_and_several_columns_hash_too() -> None:
    frame = Inlet(keys=("s0", "l0")).read([ROWS])
    assert frame[HASH].to_list() == [*hashes([ROWS["s0"], ROWS["l0"]], 3)]
    assert len(set(frame[HASH])) == 3


def test_rows_of_a_global_aggregate_have_hash_zero() -> None:
    assert Inlet(keys=()).read([ROWS])[HASH].to_list() == [0, 0, 0]


def test_rows_are_spread_by_key_group_and_operator() -> None:
    groups = np.arange(8)
    rows = pl.DataFrame({TAG: pl.Series([1, 7] * 4, dtype=pl.Int32), HASH: pl.Series(groups, dtype=pl.Int64)})
    spread = Spread(8, {1: (10, 11), 7: (20, 21)})
    assert spread.subtasks(rows)[SUBTASK].to_list() == [10, 20, 10, 20, 11, 21, 11, 21]


def test_rows_without_a_hash_stay_with_their_task() -> None:
    rows = pl.DataFrame({TAG: [1, 1], HASH: pl.Series([None, -1], dtype=pl.Int64)}, schema_overrides={TAG: pl.Int32})
    assert Spread(8, {1: (10, 11)}).subtasks(rows, fallback=5)[SUBTASK].to_list() == [11, 11]
    assert Spread(8, {1: (10, 11)}).subtasks(rows)[SUBTASK].to_list() == [10, 11]
