"""Savepoints that older PySparks have taken go on with the one of today."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rekindle.testing.plugin import Restores
from tests.spark_releases.program import FIXTURES, PYSPARKS, SHOP

_ROOT = Path(__file__).parent.parent.parent
_UNREACHABLE = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError")


@pytest.mark.spark
@pytest.mark.parametrize("pyspark", PYSPARKS)
def test_a_frozen_savepoint_goes_on(assert_restores: Restores, pyspark: str) -> None:
    assert_restores(SHOP, FIXTURES / f"pyspark-{pyspark}")


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("pyspark", PYSPARKS)
def test_a_savepoint_of_an_environment_with_it_goes_on(assert_restores: Restores, tmp_path: Path, pyspark: str) -> None:
    other, fixture = tmp_path / "other", tmp_path / "fixture"
    _install(f"pyspark=={pyspark}.*", other)
    path = os.pathsep.join(map(str, (other, _ROOT)))
    made = subprocess.run(
        [sys.executable, "-m", "tests.spark_releases.make", str(fixture)],
        env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith(pyspark)
    assert_restores(SHOP, fixture)


def _install(requirement: str, folder: Path) -> None:
    """Beside the packages of this interpreter, from the registry or pip's cache."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    if any(each in done.stderr for each in _UNREACHABLE):
        pytest.skip(f"the package registry cannot be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
