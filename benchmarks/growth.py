"""2,000-row batches onto ten million keys beside those onto a hundred thousand: what small ones pay for the rest."""

from __future__ import annotations

from benchmarks.aggregate import SMALL, data, script
from benchmarks.common import Batches, median, run_rekindle

FEW, MANY = 100_000, 10_000_000


def figures(rounds: int = 3) -> dict[str, float]:
    """Time onto the large state as a multiple of that onto the small one."""
    took: dict[int, Batches] = {FEW: [], MANY: []}
    for number in range(rounds):
        for keys in (FEW, MANY) if number % 2 == 0 else (MANY, FEW):
            took[keys] += run_rekindle(script(data(keys)))
    many, few = (median([ms for rows, ms in took[keys] if rows == SMALL]) for keys in (MANY, FEW))
    return {f"{MANY} keys against {FEW}, {SMALL}-row batches, time": many / few}
