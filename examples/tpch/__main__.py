"""``python -m examples.tpch --scale 0.01``: runs the plans of the 22 queries, compares with Spark and DuckDB."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from examples.tpch.data import generate
from examples.tpch.run import QUERIES, compile_query, difference, register, run_duckdb, run_plan, run_spark
from rekindle.runtime.batch_job import BATCH_SETTINGS
from rekindle.spark.session import prepare, session

PARALLELISM = 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.tpch", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.01, help="scale factor: 1 is a gigabyte")
    parser.add_argument("--folder", type=Path, default=Path("build/tpch"), help="where data and plans are kept")
    parser.add_argument("queries", nargs="*", default=QUERIES, help="e.g. q01 q15; all when left out")
    arguments = parser.parse_args()
    data = generate(arguments.scale, arguments.folder.absolute())
    spark = prepare(session(PARALLELISM, {"spark.driver.memory": "4g"}), PARALLELISM, BATCH_SETTINGS)
    register(data, spark)
    failed = 0
    for query in arguments.queries:
        plan = arguments.folder / "plans" / f"{query}.json"
        plan.parent.mkdir(exist_ok=True)
        compile_query(query, data).write_to_file(plan, force=True)
        started = time.perf_counter()
        ours = run_plan(plan, spark)
        ended = time.perf_counter()
        theirs = run_spark(query, spark)
        spark_seconds = time.perf_counter() - ended
        found = difference(ours, theirs) or difference(ours, run_duckdb(query, data))
        failed += found is not None
        verdict = "same rows as Spark and DuckDB" if found is None else f"DIFFERENT: {found}"
        times = f"{ended - started:.1f} s, Spark {spark_seconds:.1f} s"
        print(f"{query}: {len(ours)} rows, {times}: {verdict}", flush=True)
    spark.stop()
    sys.exit(1 if failed else 0)


main()
