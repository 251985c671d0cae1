"""Savepoints that older PySparks have taken go on with the one of today."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.connectors.collect import results
from rekindle.savepoints.reader import SavepointReader
from rekindle.testing.plugin import Restores
from rekindle.testing.restore_fixtures import SAVEPOINT
from tests.spark_releases.program import FIXTURES, PYSPARKS, SHOP
from tests.spark_releases.unfinished import LEFT, job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FROZEN = sorted(FIXTURES.iterdir())
_ROOT = Path(__file__).parent.parent.parent
_UNREACHABLE = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError")


def test_they_are_the_same_savepoint() -> None:
    """The one that goes on in the fast suite stands for the others, too."""
    first, *others = map(SavepointReader.read, (each / SAVEPOINT for each in FROZEN))
    assert others
    for other in others:
        assert other.manifest.positions == first.manifest.positions
        assert other.manifest.watermark == first.manifest.watermark
        assert other.manifest.meanings == first.manifest.meanings
        for state in first.states:
            rows, expected = (each.table(state.title).to_pylist() for each in (other, first))
            assert sorted(map(repr, rows)) == sorted(map(repr, expected))
            assert expected or state.rows == 0


@pytest.mark.spark
@pytest.mark.parametrize(
    "fixture",
    [pytest.param(each, id=each.name, marks=[pytest.mark.long] * (each is not FROZEN[0])) for each in FROZEN],
)
def test_a_frozen_savepoint_goes_on(assert_restores: Restores, fixture: Path) -> None:
    assert_restores(SHOP, fixture)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("pyspark", PYSPARKS)
def test_what_an_environment_with_it_made_goes_on(
    assert_restores: Restores, spark: SparkSession, tmp_path: Path, pyspark: str
) -> None:
    other, made = tmp_path / "other", tmp_path / "made"
    _install(f"pyspark=={pyspark}.*", other)
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark_releases.make", str(made)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (other, _ROOT)))},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1].startswith(pyspark)
    assert_restores(SHOP, made / "fixture")
    job(spark, made / "unfinished", stops=False).start().wait()
    assert [row[1] for _, row in results(str(made / "unfinished"))] == [LEFT]


def _install(requirement: str, folder: Path) -> None:
    """Beside the packages of this interpreter, from the registry or pip's cache."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    if any(each in done.stderr for each in _UNREACHABLE):
        pytest.skip(f"the package registry cannot be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
