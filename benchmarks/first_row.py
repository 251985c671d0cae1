"""The first row of a first query at the prompt: with Spark started while somebody types, and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks.common import median
from rekindle.doctor import make_class_archive

TYPING = 20.0
"""Seconds between the start of the prompt and the end of the first statement."""
QUERY = "SELECT k, COUNT(*) FROM (VALUES ('a'), ('b')) AS t (k) GROUP BY k"
_ROUNDS = 3


def figures() -> dict[str, float]:
    """Medians in seconds, each time of a process of its own: cold, from an archive of classes, and warm, in turns."""
    spent: dict[str, list[dict[str, float]]] = {"cold": [], "archived": [], "warm": []}
    with tempfile.TemporaryDirectory(prefix="bench-classes-") as folder:
        caches = {"cold": f"{folder}/none", "warm": f"{folder}/none", "archived": f"{folder}/archive"}
        made = make_class_archive({**os.environ, "XDG_CACHE_HOME": caches["archived"]})
        assert made.ok, made.detail
        for number in range(_ROUNDS):
            for kind in list(spent)[:: -1 if number % 2 else 1]:
                spent[kind].append(_measured(kind, caches[kind]))
    wait = "from the statement to the first row"
    found = {f"{wait}, Spark started before (typing {TYPING:.0f} s)": median([each[wait] for each in spent["warm"]])}
    for kind, words in (("cold", "without"), ("archived", "from an archive of classes")):
        found |= {f"{words}, {part}": median([each[part] for each in spent[kind]]) for part in spent[kind][0]}
    return found


def _measured(kind: str, cache: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.first_row", kind]
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return found


def main(kind: str) -> None:
    """What one process measures, as JSON."""
    from execnodes.core.options import Configuration
    from rekindle.api.table_environment import TableEnvironment

    spent: dict[str, float] = {}

    def timed(part: str, work: Callable[[], object]) -> None:
        begun = time.perf_counter()
        work()
        spent[part] = time.perf_counter() - begun

    begun = time.perf_counter()
    if kind == "warm":
        from rekindle.cli.warm_up import start_warm_up

        start_warm_up(Configuration())
        time.sleep(TYPING)
        begun = time.perf_counter()
    else:
        from rekindle.runtime.assemble import own_settings
        from rekindle.spark.session import session

        timed("Java and the session of Spark", lambda: session(1, own_settings(Configuration())))
    environment = TableEnvironment.create()
    timed("the first query", lambda: next(iter(environment.execute_sql(QUERY).collect())))
    spent["from the statement to the first row"] = time.perf_counter() - begun
    timed("a second query", lambda: next(iter(environment.execute_sql(QUERY).collect())))
    sys.stdout.write(f"{json.dumps(spent)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
