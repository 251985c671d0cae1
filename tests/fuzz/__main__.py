"""`make fuzz`: hunt with every fuzzer, or with those that are named; prints the seed, keeps what it finds."""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.frame import fuzzers, hunt, keep


def main() -> int:
    """Exit code 1 if there are findings."""
    known = fuzzers()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=main.__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all when none is named")
    parser.add_argument("--seconds", type=float, default=120, help="for each fuzzer")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(known))
    if unknown:
        parser.error(f"there is no fuzzer {', '.join(unknown)}; there are {', '.join(known)}")
    failed = False
    for name in given.names or known:
        outcome = hunt(known[name], given.seed, seconds=given.seconds)
        print(
            f"{name}: seed {given.seed}, {outcome.tried:,} cases, {outcome.refused:,} refused, "
            f"{len(outcome.findings)} findings",
            flush=True,
        )
        for finding in outcome.findings:
            failed = True
            print(f"  case {finding.number}: {finding.what}\n  kept in {keep(name, finding)}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
