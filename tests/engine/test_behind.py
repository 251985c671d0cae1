"""Operators behind one whose rows may be older than its watermark go by a watermark that is as much less."""

from __future__ import annotations

import polars as pl
import pytest

from execnodes.core.types import BIGINT, STRING, TimeKind, timestamp
from execnodes.engine.bodies import FrameShape, process_rows
from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import FIRED, HASH, KIND
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from rekindle import TableEnvironment
from rekindle.engine.host import SegmentContext
from rekindle.engine.watermarks import watermark_behind
from rekindle.pipeline.record import OperatorRecord, Record, record
from tests.kernels.fake_state import FakeContext
from tests.kernels.test_interval_join import operator

TABLES = "".join(
    f"CREATE TABLE {name} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');\n"
    for name in "abc"
)
JOINED = "SELECT a.k, a.v, a.ts, b.ts AS bts FROM a {} JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + {}"
COUNTED = (
    "SELECT COUNT(*) FROM TABLE(TUMBLE(({}), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
)
FIVE = "INTERVAL '5' SECOND"


def recorded(query: str, options: dict[str, str] | None = None) -> Record:
    made = TableEnvironment.create(options or {})
    made.execute_script(TABLES)
    return record(made.compile_plan_sql(query).graph)


def behind(query: str, options: dict[str, str] | None = None) -> dict[str, int]:
    """By class of operator."""
    steps = recorded(query, options).steps.values()
    return {type(each.operator).__name__: each.behind for each in steps if isinstance(each, OperatorRecord)}


@pytest.mark.parametrize("phases", ["ONE_PHASE", "TWO_PHASE"])
@pytest.mark.parametrize(("kind", "waits"), [("", 5000), ("LEFT", 5001), ("FULL", 5001)])
def test_what_reads_an_interval_join_waits_longer(phases: str, kind: str, waits: int) -> None:
    query = COUNTED.format(f"SELECT * FROM ({JOINED.format(kind, FIVE)}) WHERE v > 0")
    found = behind(query, {"table.optimizer.agg-phase-strategy": phases})
    assert found.pop("IntervalJoinOperator") == 0
    assert list(found.values()) == [waits]


def test_joins_in_turn_wait_for_each_other() -> None:
    third = (
        f"SELECT j.ts FROM ({JOINED.format('', FIVE)}) AS j JOIN c ON j.k = c.k AND c.ts BETWEEN j.ts AND j.ts + {FIVE}"
    )
    found = recorded(COUNTED.format(third))
    steps = [each for each in found.steps.values() if isinstance(each, OperatorRecord)]
    assert [each.behind for each in steps] == [0, 5000, 10_000]
    (sink,) = found.sinks
    assert found.behind(sink.rows) == 10_000


def test_a_union_waits_for_its_slowest_part() -> None:
    union = f"SELECT ts FROM ({JOINED.format('', FIVE)}) UNION ALL SELECT ts FROM c"
    assert behind(COUNTED.format(union))["WindowAggregateOperator"] == 5000
    assert behind(COUNTED.format("SELECT ts FROM c"))["WindowAggregateOperator"] == 0


@pytest.mark.parametrize(
    ("watermark", "then"), [(None, None), (100, 70), (10, -20), (DRAINED - 1, DRAINED - 31), (DRAINED, DRAINED)]
)
def test_the_watermark_behind_is_less_but_at_the_end(watermark: int | None, then: int | None) -> None:
    assert watermark_behind(watermark, 30) == then


@pytest.mark.parametrize(
    ("asked", "due"), [(100, 130), (-50, -20), (DRAINED - 1, DRAINED - 1), (DRAINED - 31, DRAINED - 1)]
)
def test_a_timer_is_due_when_the_job_is_so_much_further(asked: int, due: int) -> None:
    context = SegmentContext(None, None, None, frozenset((0,)), 7, 5, behind=30)  # type: ignore[arg-type]  # no state
    context.wake_at(asked)
    assert context.asked == due
    assert watermark_behind(due, 30) is not None


@pytest.mark.parametrize("fired", [0, FIRED])
def test_what_comes_of_rows_that_a_watermark_gave_was_before_it(fired: int) -> None:
    join = operator("INNER", -5, 5)
    output = (Column("o0", STRING), Column("o1", BIGINT), Column("o2", timestamp(3, TimeKind.ROWTIME)))
    shape = FrameShape(SlotLayout.of([[each.type for each in (*output, *output)]]), ordered=False, row_watermarks=False)
    layout = SlotLayout.of([[each.type for each in output]])
    values = {"string": "a", "bigint": 1_000}
    rows = pl.DataFrame(
        {
            KIND: pl.Series([fired, 4 + fired], dtype=pl.Int8),
            HASH: [7, 7],
            **{name: [values["string" if name.startswith("s") else "bigint"]] * 2 for name in layout.names()},
        }
    )
    context = FakeContext(join, watermark=1_000_000)
    changes, _ = process_rows(join, rows, context, shape)
    assert changes is not None
    assert changes[KIND].to_list() == ([FIRED] if fired else [])
