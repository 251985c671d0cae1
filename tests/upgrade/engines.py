"""Releases in environments of their own: the wheel beside today's dependencies, and a process that finds it first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from releases import Release
from tests.upgrade.work import Order

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Engine:
    """An installed release."""

    release: Release
    folder: Path

    @classmethod
    def install(cls, release: Release, folder: Path) -> Engine:
        """Without its dependencies: those of this interpreter serve."""
        target = folder / f"rekindle-{release.version}"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
        subprocess.run([*command, "--target", str(target), str(release.path)], check=True, timeout=120)
        return cls(release, target)

    def run(self, *arguments: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        """A process of Python, in its own folder; modules of the tests are found too."""
        path = os.pathsep.join([str(self.folder), str(ROOT)])
        # What runs for seconds only is not worth compiling for speed.
        environment = {**os.environ, "PYTHONPATH": path, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    def work(self, order: Order, folder: Path) -> Any:
        """The answer of `tests.upgrade.work`."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.release.version}.json"
        path.write_text(json.dumps(asdict(order)), encoding="utf-8")
        done = self.run("-m", "tests.upgrade.work", str(path))
        assert done.returncode == 0, done.stdout + done.stderr
        answer = json.loads(path.with_suffix(".answer").read_text(encoding="utf-8"))
        assert answer["engine"] == self.release.engine_version
        return answer
