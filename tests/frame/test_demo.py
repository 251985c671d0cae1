"""The demo of the README, as `make demo` runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.xdist_group("commands")
def test_the_demo_ends_with_every_row_equal(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.flights"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "killed with SIGKILL after" in done.stdout
    assert "rows is equal" in done.stdout
