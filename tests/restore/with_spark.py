"""Which restore programs go on with Spark in the fast suite, each for its reason; the long tests run all of them.

Without Spark those go on that are recorded (`recording`), in both modes. So Spark is for what that leaves out: reading
Parquet, values of each kind between files and operators, sources and sinks, how plans come to a job; and for programs
that are not recorded yet. ``python -m tests.restore.with_spark`` prints which program goes on how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.restore.modes import InMode, in_modes
from tests.restore.program import RestoreProgram, programs

WITH_SPARK: Mapping[str, str] = {
    "stream-exec-changelog-normalize_1/repeated": "a plan with a node version that is no longer executed",
    "stream-exec-deduplicate_1/ttl": "an operator takes over an earlier layout; rows with a time to live",
    "stream-exec-global-group-aggregate_1/added": "decimals of up to 18 digits",
    "stream-exec-global-window-aggregate_1/micro_batches": "buckets, and times of a zone",
    "stream-exec-group-aggregate_1/ttl": "decimals, and values beside accumulators",
    "stream-exec-join_1/added": "floats and bytes",
    "stream-exec-lookup-join_1/groups": "tables that are looked up",
    "stream-exec-python-async-calc_1/awaited": "functions that wait",
    "stream-exec-python-group-aggregate_1/added": "accumulators: dataclasses, rows, pickled; doubles and arrays",
    "stream-exec-python-group-aggregate_1/serializers": "accumulators of Avro and of a serializer of the user; rows",
    "stream-exec-sink_1/connectors": "files and tables that sinks go on writing",
    "stream-exec-sink_2/settled": "what sinks keep, and rows that are judged one by one",
    "stream-exec-table-source-scan_1/formats": "positions in files of each format",
    "stream-exec-table-source-scan_1/generators": "positions of sources that make their rows",
    "stream-exec-table-source-scan_1/spark_source": "a source that cannot go on",
}
SAMPLE = (
    "stream-exec-deduplicate_3/event_time", "stream-exec-global-window-aggregate_1/slices",
    "stream-exec-group-window-aggregate_1/uneven", "stream-exec-interval-join_1/shapes",
    "stream-exec-over-aggregate_1/event_time",
    "stream-exec-temporal-sort_1/event_time", "stream-exec-window-aggregate_2/shapes",
    "stream-exec-window-deduplicate_1/event_time", "stream-exec-window-join_1/shapes",
    "stream-exec-window-rank_1/shapes",
    "stream-exec-window-table-function_2/sessions",
)  # fmt: skip
"""Programs that go on in the other mode with Spark as long as that is not recorded."""
TAKE_SECONDS = (
    "stream-exec-changelog-normalize_1/ttl", "stream-exec-deduplicate_1/arrival",
    "stream-exec-deduplicate_1/event_time",
    "stream-exec-deduplicate_2/ttl", "stream-exec-deduplicate_3/ttl", "stream-exec-global-group-aggregate_1/taken_back",
    "stream-exec-global-group-aggregate_1/ttl", "stream-exec-group-aggregate_1/added",
    "stream-exec-group-aggregate_1/percentiles", "stream-exec-group-aggregate_1/taken_back",
    "stream-exec-incremental-group-aggregate_1/taken_back", "stream-exec-incremental-group-aggregate_1/ttl",
    "stream-exec-join_1/ttl", "stream-exec-limit_1/taken_back", "stream-exec-over-aggregate_1/python_other_orders",
    "stream-exec-over-aggregate_1/ttl", "stream-exec-python-group-aggregate_1/taken_back",
    "stream-exec-python-group-aggregate_1/ttl", "stream-exec-python-group-aggregate_3/distinct_taken_back",
    "stream-exec-rank_1/taken_back", "stream-exec-rank_1/updated", "stream-exec-sink_1/conflicts",
    "stream-exec-sink_1/deduplicate", "stream-exec-sink_1/ttl", "stream-exec-sink_2/ttl",
    "stream-exec-sort-limit_1/taken_back", "stream-exec-window-aggregate_1/local_time",
    "stream-exec-window-aggregate_1/shapes", "stream-exec-window-aggregate_1/taken_back",
)  # fmt: skip
"""Programs of which others show the node version; recorded or not, they are left to the long tests with Spark."""
RECOMPILED: Mapping[str, str] = {
    "stream-exec-deduplicate_2/ttl": "its operator has a newer version, which takes its state over",
}
"""Which go on with the plan that their SQL compiles to today."""
NOT_RECORDED = Path(__file__).with_name("not_recorded.txt")
"""Written by `recording`."""


@cache
def not_recorded() -> tuple[str, ...]:
    """Programs with their modes that are to be recorded yet, so that Spark is what they go on with."""
    return tuple(NOT_RECORDED.read_text(encoding="utf-8").split())


def is_fast(program: RestoreProgram) -> bool:
    """Whether it goes on with Spark in the fast suite."""
    own = [str(each) for each in in_modes() if each.node_program is program and each.own]
    waits = program.name not in TAKE_SECONDS and any(each in not_recorded() for each in own)
    return program.name in WITH_SPARK or waits


def other_is_fast(program: RestoreProgram) -> bool:
    """The same of the mode that its fixture is not of."""
    other = [str(each) for each in in_modes() if each.node_program is program and not each.own]
    return program.name in SAMPLE and any(each in not_recorded() for each in other)


def table() -> Iterator[tuple[str, ...]]:
    """Of each program: how it goes on by default, by row, with Spark in the fast suite, and in long tests."""
    yield "program", "default", "row", "Spark, fast", "Spark, long"
    for program in programs():
        modes = {each.mode: each for each in in_modes() if each.node_program is program}
        replayed = (_shown(modes[mode]) if mode in modes else "" for mode in ("default", "row"))
        fast = [WITH_SPARK.get(program.name, "not recorded")] * is_fast(program)
        fast += [f"plan of today: {why}" for name, why in RECOMPILED.items() if name == program.name]
        fast += ["the other mode"] * other_is_fast(program)
        yield program.name, *replayed, "; ".join(fast), "" if is_fast(program) else "x"


def _shown(each: InMode) -> str:
    return "" if str(each) in not_recorded() else "x"


if __name__ == "__main__":
    for row in table():
        print(f"{row[0]:60} {row[1]:8} {row[2]:4} {row[4]:12} {row[3]}")
