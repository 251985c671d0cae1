"""Flink's side of `benchmarks.flink`, for a Python that has PyFlink: runs the statements of each line that it reads."""

from __future__ import annotations

import json
import sys
import time

from pyflink.table import EnvironmentSettings, TableEnvironment

for line in sys.stdin:
    told = json.loads(line)
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("parallelism.default", told["parallelism"])
    for each in told["tables"]:
        environment.execute_sql(each)
    began = time.perf_counter()
    environment.execute_sql(told["insert"]).wait()
    print(time.perf_counter() - began, flush=True)
