"""Which restore programs go on with Spark in the fast suite, each for its reason; the long tests run all of them.

Without Spark all go on, in both modes (`test_replay`). So Spark is for what that leaves out: reading Parquet, values of
each kind between files and operators, sources and sinks, and how plans come to a job.
``python -m tests.restore.with_spark`` prints which program goes on how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.restore.modes import in_modes
from tests.restore.program import programs

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
RECOMPILED: Mapping[str, str] = {
    "stream-exec-deduplicate_2/ttl": "its operator has a newer version, which takes its state over",
}
"""Which go on with the plan that their SQL compiles to today."""


def table() -> Iterator[tuple[str, ...]]:
    """Of each program: whether it goes on by default, by row, and why with Spark in the fast suite."""
    yield "program", "default", "row", "Spark, fast"
    for program in programs():
        modes = {each.mode for each in in_modes() if each.node_program is program}
        fast = [WITH_SPARK[program.name]] if program.name in WITH_SPARK else []
        fast += [f"plan of today: {why}" for name, why in RECOMPILED.items() if name == program.name]
        yield program.name, *("x" if mode in modes else "" for mode in ("default", "row")), "; ".join(fast)


if __name__ == "__main__":
    for row in table():
        print(f"{row[0]:60} {row[1]:8} {row[2]:4} {row[3]}")
