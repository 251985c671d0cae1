"""How each program is run: one way of many, drawn so that every two properties meet in some program.

``python -m tests.conformance.matrix [SEED]`` prints which way each program is run and which properties meet how often.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from random import Random

from rekindle.spark.generated_code import INTERPRETED
from rekindle.testing.cut import MicroBatches
from rekindle.testing.programs import Mode, Program
from rekindle.testing.runner import Settings
from tests.conformance.unsupported import PROGRAMS, has_event_time, listed

SEED = int(os.environ.get("REKINDLE_SEED", "1"))
"""The same in every run of the fast suite; `make test-long` draws one of its own."""
PROPERTIES: Mapping[str, Mapping[str, int]] = {
    "mode": {"default": 1, "row": 1},
    "micro-batches": {"one": 10, "random": 9, "rows": 1},
    "size": {"few": 4, "small": 2, "large": 1, "mixed": 1},
    "program": {"standing": 4, "built": 1, "mixed": 1},
    "parallelism": {"1": 2, "3": 1},
    "names": {"own": 1, "never_the_same": 1, "from_the_end": 1},
    "cut": {"1": 2, "2": 1},
    "code": {"by size": 6, "generated": 1, "interpreted": 1},
}
"""What a run can be, and how often of so many: what takes many times as long is rarer. The first value is the default.

See `settings` and `tests.conformance.runs`.
"""
OTHERWISE = {
    "calc/current_watermark": "it shows the watermark, which is another at the end of a micro-batch",
    "sink/conflict_nothing_watermarked": "what its sink takes at a watermark depends on when it comes",
    "window/session_behind_over": "rows that OVER takes although they are late are not late to what is above it",
}
"""What the default mode does otherwise, even in micro-batches of one row."""
_GROUP = 4
"""Programs that run in one statement set. They take a fifth less than one by one; nine take as long as one by one."""
_MANY = 6
"""Statements of a job from which on it is not run in ways that take minutes."""
_LINES = 100
"""Lines of input up to which each may be in a micro-batch of its own."""
_CANDIDATES = 30
"""Ways that are drawn for a program; the one with the most new pairs is taken, and the first one where none is new."""
SUPPORTED = [each for each in PROGRAMS if each.name not in listed()]

Way = Mapping[str, str]
"""A value of each property."""


@dataclass(frozen=True)
class Case:
    """Programs that run in one job, and how."""

    programs: tuple[Program, ...]
    way: Way

    @property
    def name(self) -> str:
        """For reports."""
        return self.programs[0].name if len(self.programs) == 1 else f"together:{self.programs[0].name}"

    def __str__(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.way.items())


def settings(case: Case, *, seed: int = SEED) -> Settings:
    """What the runner is told; size, program and names are patched by `tests.conformance.runs`."""
    batches = {"one": None, "random": MicroBatches(seed), "rows": MicroBatches(None)}[case.way["micro-batches"]]
    options = {"parallelism.default": case.way["parallelism"]}
    if case.way["code"] == "interpreted":
        options |= INTERPRETED
    elif case.way["code"] == "generated":
        options |= {key: {"false": "true", "NO_CODEGEN": "FALLBACK"}[value] for key, value in INTERPRETED.items()}
    return Settings(
        options,
        Mode(case.way["mode"]),
        parallel=1,
        round_trip=True,
        cut=int(case.way["cut"]),
        micro_batches=batches,
    )


def can_share_options(program: Program) -> bool:
    """Whether a program has no option and no function of its own, and is not refused."""
    text = program.sql.upper().replace("STATEMENT SET", "")
    return "SET " not in text and " FUNCTION " not in text and program.refusal is None


def can_be_fused(program: Program) -> bool:
    """Whether nothing of a program concerns others in the same streaming job: as one watermark would."""
    return can_share_options(program) and not has_event_time(program)


def is_possible(programs: Sequence[Program], way: Way) -> bool:
    """Whether programs must give their rows in this way."""
    if any(each.refusal is not None for each in programs):
        return way == PLAIN
    if sum(each.sql.upper().count("INSERT INTO") for each in programs) > _MANY and _is_slow(way):
        return False
    if way["micro-batches"] == "rows" and max(map(_lines, programs)) > _LINES:
        return False
    timed = any(map(has_event_time, programs))
    if any(each.late is not None for each in programs):
        # A row is late by the micro-batches before it: each row in one of its own is Flink's rule.
        by_rows = way["micro-batches"] == "rows" and not any(each.name in OTHERWISE for each in programs)
        return way["mode"] == "row" or (by_rows and way["cut"] == "1")
    return timed or way["mode"] == "default"


@cache
def _lines(program: Program) -> int:
    folder = program.folder / "input"
    return sum(file.read_bytes().count(b"\n") for file in folder.iterdir()) if folder.exists() else 0


def _is_slow(way: Way) -> bool:
    """Whether each sink is written by a job of Spark of its own, or there are many micro-batches."""
    return way["program"] != "standing" or way["size"] in ("large", "mixed") or way["micro-batches"] == "rows"


PLAIN: Way = {name: next(iter(values)) for name, values in PROPERTIES.items()}


def pairs(way: Way) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Every two values that meet in a way."""
    return combinations(sorted(way.items()), 2)


def all_pairs() -> set[tuple[tuple[str, str], tuple[str, str]]]:
    """Every two values of different properties."""
    values = [(name, value) for name, each in PROPERTIES.items() for value in each]
    return {(one, other) for one, other in combinations(sorted(values), 2) if one[0] != other[0]}


def group(
    programs: Iterable[Program], can_be_together: Callable[[Program], bool], seed: int = SEED
) -> list[tuple[Program, ...]]:
    """Programs that run in one job, alone or with others."""
    given = sorted(programs, key=lambda program: program.name)
    together = [each for each in given if can_be_together(each)]
    Random(seed).shuffle(together)
    alone = [(each,) for each in given if not can_be_together(each)]
    return [*alone, *(tuple(together[at : at + _GROUP]) for at in range(0, len(together), _GROUP))]


def draw(random: Random, properties: Iterable[str] = tuple(PROPERTIES)) -> dict[str, str]:
    """A value of each of some properties."""
    weights = {name: PROPERTIES[name] for name in properties}
    return {name: random.choices(list(values), list(values.values()))[0] for name, values in weights.items()}


def _draw_best(
    programs: Sequence[Program], random: Random, candidates: int, met: set[tuple[tuple[str, str], tuple[str, str]]]
) -> Way:
    """Of so many ways the one with the most pairs that have not met."""
    possible: list[Way] = [way for _ in range(candidates) if is_possible(programs, way := draw(random))] or [PLAIN]
    return max(possible, key=lambda way: len(set(pairs(way)) - met))


def cases(seed: int = SEED, programs: Sequence[Program] = tuple(SUPPORTED)) -> list[Case]:
    """Each program once; a way has the most pairs, of those drawn for it, that no case before has."""
    found, met = list[Case](), set[tuple[tuple[str, str], tuple[str, str]]]()
    for together in group(programs, can_be_fused, seed):
        best = _draw_best(together, Random(f"{seed} {together[0].name}"), _CANDIDATES, met)
        met |= set(pairs(best))
        found.append(Case(together, best))
    return found


def covering(program: Program, seed: int = SEED) -> list[Case]:
    """Ways of one program in which every two values meet that can."""
    random = Random(f"{seed} {program.name}")
    found, met, failures = list[Case](), set[tuple[tuple[str, str], tuple[str, str]]](), 0
    while failures < 3:
        best = _draw_best((program,), random, 100, met)
        new = set(pairs(best)) - met
        failures = 0 if new else failures + 1
        if new:
            met |= new
            found.append(Case((program,), best))
    return found


def table(given: Sequence[Case]) -> str:
    """How often every two values meet, in programs, and the way of each program."""
    counts = Counter(pair for case in given for pair in pairs(case.way) for _ in case.programs)
    lines = [f"{one[0]}={one[1]} & {other[0]}={other[1]}: {counts[one, other]}" for one, other in sorted(all_pairs())]
    ways = [f"{program.name}: {case}" for case in given for program in case.programs]
    return "\n".join([*lines, "", *sorted(ways)])


if __name__ == "__main__":
    print(table(cases(int(sys.argv[1]) if sys.argv[1:] else SEED)))
