"""Programs as users run them: options have their defaults, and Spark the settings that a session has by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from execnodes.core.options import OPTIONS
from rekindle.spark.session import SMALL_PROGRAMS
from tests.conformance.plain import SAMPLE, programs
from tests.conformance.unsupported import PROGRAMS

ROOT = Path(__file__).parents[2]
REST = sorted({each.name for each in programs()} - set(SAMPLE))
PIECES = 8


def run(*names: str) -> None:
    """In a process of its own: this one's session has settings of tests."""
    command = [sys.executable, "-m", "tests.conformance.plain", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]


@pytest.mark.spark
def test_a_sample_runs_with_all_defaults() -> None:
    assert set(SAMPLE) <= {each.name for each in PROGRAMS}
    run(*SAMPLE)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("piece", range(PIECES))
def test_the_others_run_with_all_defaults(piece: int) -> None:
    run(*REST[piece::PIECES])


def test_a_session_of_users_has_nothing_of_tests() -> None:
    """What `tests.conformance.plain` starts: no setting of `SMALL_PROGRAMS` is one that every session has."""
    from rekindle.spark.session import SESSION_SETTINGS

    assert not SMALL_PROGRAMS.keys() & SESSION_SETTINGS.keys()
    assert int(OPTIONS["parallelism.default"].default) > 1, "parallel tasks are what users run"
