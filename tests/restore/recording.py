"""``python -m tests.restore.recording`` writes what operators are given and give after the cut, where that is missing.

It runs the restore programs with the code of today and Spark; nothing that is there is written again. Also written are
fixtures of the mode that a program's own is not of.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rekindle.engine import frames
from rekindle.testing.restore_fixtures import BEFORE, EXPECTED, go_on, write
from tests.restore.calls import FOLDER, RecordingTask
from tests.restore.modes import InMode, in_modes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _record(spark: SparkSession, each: InMode, seen: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        fixture, on = each.fixture, Path(folder) / "on"
        if not fixture.exists():
            fixture = Path(folder) / "fixture"
            if problems := write(spark, each.program, fixture):
                return problems
        on.mkdir()
        shutil.rmtree(seen)
        seen.mkdir()
        if problems := go_on(spark, each.program, fixture, on, parallelism=1):
            return problems
        each.calls.parent.mkdir(parents=True, exist_ok=True)
        if fixture != each.fixture:
            for name in (BEFORE, EXPECTED):
                (fixture / name).unlink()
            shutil.move(fixture, each.fixture)
        calls = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(seen.iterdir())]
        last = {call["node"]: call for call in calls}
        for call in calls:
            if call is not last[call["node"]]:
                del call["states"]
        texts = (json.dumps(call, ensure_ascii=False, separators=(",", ":")) for call in calls)
        each.calls.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return []


def main(only: str) -> None:
    """Record what is missing, of programs whose names begin so, or of all."""
    from rekindle.spark.session import session

    with tempfile.TemporaryDirectory() as seen:
        os.environ[FOLDER] = seen
        vars(frames)["HostTask"] = RecordingTask
        spark = session(2, {"spark.sql.shuffle.partitions": "1"})
        for each in in_modes():
            if (only == "all" or str(each).startswith(only)) and not each.calls.exists():
                problems = _record(spark, each, Path(seen))
                print("\n".join([f"{each} is not recorded", *problems]) if problems else f"{each} recorded", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
