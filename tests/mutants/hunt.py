"""Runs the tests that a change to a mutated file reaches, the nearest first, until one fails."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tests.mutants.mutant import Mutant
from tests.mutants.nearness import REST, rank_tests
from tests.mutants.ordering import PROFILE, SPARK
from tests.mutants.results import Depth, Result
from tests.mutants.tree import Tree

_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - .*)?$", re.M)
_PYTEST = ("-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-p", "tests.mutants.ordering", "-m", "not long")
_MORE = {"HYPOTHESIS_PROFILE": PROFILE}
_PATIENCE = 900.0
"""Seconds in which a test that has failed must pass without the mistake."""


@dataclass(frozen=True)
class Step:
    """Test files that one process runs, or a program."""

    depth: Depth
    files: tuple[str, ...] = ()
    spark: str = ""
    program: str = ""


@dataclass
class Hunter:
    """Hunts mutants in a copy of the tree, one after the other."""

    tree: Tree
    depth: Depth
    timeout: float
    """Seconds for a mutant."""
    known: Mapping[str, Result] = field(default_factory=dict)
    """What has caught mutants before, by id: it is tried first."""
    tests: tuple[str, ...] = ()
    """Test files or tests to be run instead of those that the file says."""
    _sound: set[str] = field(default_factory=set)
    """Tests and programs that pass without a mistake."""

    def hunt(self, mutant: Mutant) -> Result:
        """What catches it; TimeoutError if that cannot be told in time."""
        begun = time.monotonic()
        with self.tree.mutated(mutant):
            for step in self._steps(mutant):
                by = self._catch(mutant, step, begun + self.timeout)
                if by:
                    return Result(mutant.digest, by, round(time.monotonic() - begun), step.depth)
        return Result(mutant.digest, "", round(time.monotonic() - begun), self.depth)

    def _steps(self, mutant: Mutant) -> Iterator[Step]:
        if self.tests:
            yield Step("near", self.tests)
            return
        before = self.known.get(mutant.id)
        if before is not None and before.by.startswith("tests/"):
            yield Step(before.tried, (before.by,))
        ranks = rank_tests(self.tree.root, mutant.file)
        by_rank = [tuple(each for each, of_file in ranks.items() if of_file == rank) for rank in range(REST + 1)]
        *near, rest = by_rank
        for files in near:
            yield Step("near", files, "no")
        if self.depth == "near":
            return
        yield Step("spark", program=mutant.program)
        yield Step("spark", tuple(chain(*near)), "only")
        if self.depth == "all":
            yield Step("all", rest, "no")
            yield Step("all", rest, "only")

    def _catch(self, mutant: Mutant, step: Step, until: float) -> str:
        """The first test of a step that fails only because of the mistake; empty if there is none."""
        if step.program:
            return self._catch_by_program(mutant, step.program, until)
        unsound: list[str] = []
        while step.files:
            ended = self._pytest((*step.files, *(f"--deselect={each}" for each in unsound)), step.spark, until)
            # 4: the test does not exist any more; 5: nothing was left to run.
            if ended in (0, 4, 5):
                return ""
            if isinstance(ended, str):
                if self._is_sound(mutant, ended):
                    return ended
                unsound.append(ended)
        return ""

    def _pytest(self, arguments: Sequence[str], spark: str, until: float) -> int | str:
        """The test that failed, else the exit code."""
        ended = self.tree.run(
            "pytest", [*_PYTEST, *arguments], max(1.0, until - time.monotonic()), {**_MORE, SPARK: spark}
        )
        if ended.code is None:
            raise TimeoutError
        found = _FAILED.search(ended.output)
        if found is None and ended.code not in (0, 4, 5):
            raise RuntimeError(f"pytest ended with {ended.code} and names no test:\n{ended.output[-4000:]}")
        return ended.code if found is None else found[1]

    def _is_sound(self, mutant: Mutant, test: str) -> bool:
        """Whether a test passes without the mistake."""
        if test not in self._sound:
            with self.tree.restored(mutant):
                ended = self.tree.run("pytest", [*_PYTEST, test], _PATIENCE, _MORE)
            if ended.code != 0:
                return False
            self._sound.add(test)
        return True

    def _catch_by_program(self, mutant: Mutant, program: str, until: float) -> str:
        def passes() -> bool:
            ended = self.tree.run("rekindle", ["test", program], max(1.0, until - time.monotonic()))
            if ended.code is None:
                raise TimeoutError
            return ended.code == 0

        if passes():
            return ""
        if program not in self._sound:
            with self.tree.restored(mutant):
                if not passes():
                    return ""
            self._sound.add(program)
        return f"rekindle test {program}"
