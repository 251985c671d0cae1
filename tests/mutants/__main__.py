"""`make mutants`: make each seeded mistake in a copy of the tree, and look whether a test sees it."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from execnodes.core.words import counted
from tests.mutants import results as kept
from tests.mutants.hunt import Hunter
from tests.mutants.mutant import Mutant, find_problems, load_mutants
from tests.mutants.tree import copied_tree


def main() -> int:
    """Exit code 1 if a mutant survives, or cannot be run."""
    mutants = load_mutants()
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=main.__doc__)
    parser.add_argument("ids", nargs="*", help="mutants by id, house or file; all when none is named")
    parser.add_argument("--check", action="store_true", help="only check that each mutant can be made")
    parser.add_argument("--resume", action="store_true", help="leave out mutants that the results say are caught")
    parser.add_argument(
        "--depth",
        choices=("near", "spark", "all"),
        default="all",
        help="near: tests near the file that need no Spark; spark: also those that do; all: all tests",
    )
    parser.add_argument("--tests", nargs="+", default=(), metavar="TEST", help="only these test files or tests")
    parser.add_argument("--timeout", type=float, default=5400, help="seconds for a mutant")
    parser.add_argument("--results", type=Path, default=kept.FILE, help="file with the results")
    given = parser.parse_args()
    problems = list(find_problems(mutants))
    print(*problems, sep="\n", end="\n" if problems else "")
    if given.check or problems:
        return int(bool(problems))
    chosen = [each for each in mutants if not given.ids or {each.id, each.house, each.file} & set(given.ids)]
    unknown = set(given.ids) - {name for each in mutants for name in (each.id, each.house, each.file)}
    if unknown:
        parser.error(f"mutants do not exist: {', '.join(sorted(unknown))}")
    results = kept.read_results(given.results)
    if given.resume:
        chosen = [each for each in chosen if not kept.is_caught(each, results)]
    # Ended from outside it must end what it runs, and remove its copy.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with copied_tree() as tree:
        return _hunt(
            Hunter(tree, given.depth, given.timeout, results, tuple(given.tests)), chosen, mutants, given.results
        )


def _hunt(hunter: Hunter, chosen: Sequence[Mutant], mutants: tuple[Mutant, ...], path: Path) -> int:
    left = []
    for mutant in chosen:
        try:
            result = hunter.hunt(mutant)
        except (TimeoutError, RuntimeError) as error:
            print(f"{mutant.id}: undecided: {str(error) or 'it takes too long'}", flush=True)
            left.append(mutant.id)
            continue
        # A few tests say nothing about all others.
        if result.by or not hunter.tests:
            kept.write_results({**kept.read_results(path), mutant.id: result}, mutants, path)
        if result.by:
            print(f"{mutant.id}: caught in {result.seconds} s by {result.by}", flush=True)
        else:
            print(f"{mutant.id}: SURVIVED {result.seconds} s of tests: {mutant.wrong}", flush=True)
            left.append(mutant.id)
    print(f"{counted(len(chosen), 'mutant')}, {len(left)} not caught{': ' if left else ''}{', '.join(left)}")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
