"""Micro-batches of today beside those of release 1.5, which ran on Spark's state store; processes take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks import join
from benchmarks.aggregate import LARGE, SMALL
from benchmarks.common import Batches, batch_ms, in_turns
from benchmarks.engine_work import WORK
from releases import releases

BEFORE = "1.5.0"
_ROOT = Path(__file__).parents[1]


def figures(rounds: int = 3) -> dict[str, float]:
    """Milliseconds of a micro-batch as multiples of the release's."""
    result: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-engine-") as folder:
        engines = {"today": str(_ROOT), BEFORE: _installed(Path(folder))}
        for work in WORK:
            took = in_turns(rounds, {engine: partial(_run, work, path) for engine, path in engines.items()})
            for rows in (2 * join.LARGE, 2 * join.SMALL) if work == "inner join" else (LARGE, SMALL):
                ms = {engine: batch_ms(runs, rows) for engine, runs in took.items()}
                result[f"{work}, {rows:,}-row batches, time against {BEFORE}"] = ms["today"] / ms[BEFORE]
    return result


def _installed(folder: Path) -> str:
    (release,) = (each for each in releases() if each.version == BEFORE)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*command, "--target", str(folder), str(release.path)], check=True)
    # Benchmarks are those of today.
    (folder / "benchmarks").symlink_to(_ROOT / "benchmarks")
    return str(folder)


def _run(work: str, path: str) -> Batches:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.engine_work", work],
        cwd=path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [(rows, ms) for rows, ms in json.loads(done.stdout.splitlines()[-1])]
