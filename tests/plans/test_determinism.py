"""The same bytes from any process: hash seed, locale, time zone, working folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plans.format.codec import encode
from tests.plans.nodes import example

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; from tests.plans.nodes import example; from plans.format.codec import encode\n"
WRITE = "sys.stdout.buffer.write(encode(example()).encode('utf-8'))"


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "4242", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
        {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0", "TZ": "America/New_York"},
    ],
)
def test_the_bytes_do_not_depend_on_the_process(settings: dict[str, str], tmp_path: Path) -> None:
    environment = {**os.environ, **settings, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM + WRITE]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == encode(example()).encode("utf-8")
