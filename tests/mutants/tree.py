"""A copy of the tree in which one mistake is made at a time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import ROOT, Mutant


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int | None
    """None: it took too long."""
    output: str


@dataclass(frozen=True)
class Tree:
    """The copy."""

    root: Path

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """With a mistake."""
        path = self.root / mutant.file
        text = path.read_text(encoding="utf-8")
        self._write(path, mutant.apply(text))
        try:
            yield
        finally:
            self._write(path, text)

    @contextmanager
    def restored(self, mutant: Mutant) -> Iterator[None]:
        """Inside `mutated`: without the mistake for some time."""
        path = self.root / mutant.file
        text = path.read_text(encoding="utf-8")
        self._write(path, (ROOT / mutant.file).read_text(encoding="utf-8"))
        try:
            yield
        finally:
            self._write(path, text)

    def run(
        self, module: str, arguments: Sequence[str], seconds: float, more: Mapping[str, str] | None = None
    ) -> Ended:
        """``python -m module …`` in the copy, whose modules come first; nothing of it is left running."""
        environment = {**os.environ, "PYTHONPATH": str(self.root), **(more or {})}
        environment.pop("PYTEST_ADDOPTS", None)
        # A file, not a pipe: processes that are left behind may keep a pipe open.
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code: int | None = None
            try:
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(seconds)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            output.seek(0)
            return Ended(code, output.read().decode(errors="replace"))

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # Two texts of one length within a second look alike to Python.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()


@contextmanager
def copied_tree(root: Path = ROOT) -> Iterator[Tree]:
    """A copy of all files that git knows or would know, as they are now; removed at the end."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    with tempfile.TemporaryDirectory(prefix="rekindle-mutants-") as place:
        target = Path(place) / "tree"
        for name in filter(None, listed.stdout.decode().split("\0")):
            source = root / name
            if source.is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target / name)
        yield Tree(target)
