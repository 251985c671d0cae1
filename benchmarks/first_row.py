"""The first row of a first query at the prompt: with Spark started while somebody types, and without; where it goes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.common import median

TYPING = 20.0
"""Seconds between the start of the prompt and the end of the first statement."""
QUERY = "SELECT k, COUNT(*) FROM (VALUES ('a'), ('b')) AS t (k) GROUP BY k"
_ROUNDS = 3


def figures() -> dict[str, float]:
    """Medians in seconds; each time a process of its own, warm and cold in turns."""
    cold: list[dict[str, float]] = []
    warm: list[dict[str, float]] = []
    for number in range(_ROUNDS):
        for spent, is_warm in ((cold, False), (warm, True))[:: -1 if number % 2 else 1]:
            spent.append(_measured(is_warm=is_warm))
    wait = "from the statement to the first row"
    parts = {f"without, {part}": median([each[part] for each in cold]) for part in cold[0] if part != wait}
    return {
        f"{wait}, Spark started before (typing {TYPING:.0f} s)": median([each[wait] for each in warm]),
        f"{wait}, without": median([each[wait] for each in cold]),
        **parts,
    }


def _measured(*, is_warm: bool) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.first_row", "warm" if is_warm else "cold"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
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
