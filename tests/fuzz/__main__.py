"""`make fuzz`: hunt with every fuzzer, or with those that are named; prints the seed, keeps what it finds."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from execnodes.core.words import counted
from tests.fuzz.frame import Outcome, fuzzers, hunt_for, keep


def main() -> int:
    """Exit code 1 if there are findings."""
    known = fuzzers()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=main.__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all when none is named")
    parser.add_argument("--seconds", type=float, default=120, help="for each fuzzer")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first process; others count on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes, each with a seed of its own")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(known))
    if unknown:
        parser.error(f"there is no fuzzer {', '.join(unknown)}; there are {', '.join(known)}")
    failed = False
    seeds = range(given.seed, given.seed + given.jobs)
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        for name in given.names or known:
            for seed, outcome in zip(seeds, pool.map(partial(hunt_for, name, given.seconds), seeds), strict=True):
                failed |= bool(outcome.findings)
                _show(name, seed, outcome)
    return int(failed)


def _show(name: str, seed: int, outcome: Outcome) -> None:
    print(
        f"{name}: seed {seed}, {outcome.tried:,} cases, {outcome.refused:,} refused, "
        f"{counted(len(outcome.findings), 'finding')}",
        flush=True,
    )
    for finding in outcome.findings:
        print(f"  case {finding.number}: {finding.what}\n  kept in {keep(name, finding)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
