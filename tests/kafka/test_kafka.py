"""A job that reads Kafka starts at the oldest record, and from a savepoint where that one was taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.broker import broker, jars

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_a_savepoint_replaces_where_the_table_starts(tmp_path: Path) -> None:
    libraries = jars("broker", tmp_path)
    of_spark = ",".join(map(str, jars("spark", tmp_path)))
    with broker(libraries, tmp_path / "kafka") as address:
        command = [sys.executable, "-m", "tests.kafka.work", address, of_spark, str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = json.loads((tmp_path / "answer.json").read_text())
    assert first == list(range(500))
    assert second == list(range(600))
