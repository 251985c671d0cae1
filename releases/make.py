"""``python -m releases.make 1.0.0`` builds the wheel of the commit that is checked out, and keeps it in ``releases/``.

The same commit gives the same bytes: the wheel is built of what git has, under the commit's time. CONTRIBUTING.md says
what comes before and after ("A release").
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from execnodes.core.version import RELEASE
from releases import FOLDER, MANIFEST, Release, releases


def main(version: str) -> None:
    """Make a release, or say why not."""
    root = FOLDER.parent
    problem = refusal(root, version, RELEASE)
    if problem:
        sys.exit(problem)
    # Compiles the restore programs, so it comes after what is cheap.
    from tests.completeness.frozen import current, stored
    from tests.restore.fixture_plans import difference
    from tests.restore.program import programs

    nodes, frozen = current(), stored()
    # What has been dropped stays frozen.
    if nodes != {key: frozen.get(key) for key in nodes}:
        sys.exit("node versions have changed since they were frozen: run make goldens and commit, or undo the change")
    all_of_them = [*releases(), Release(version, "", "", "", "", nodes)]
    if stale := [found for each in programs() if (found := difference(each, Path("/nowhere"), all_of_them))]:
        sys.exit("\n".join(["fixtures that this release could not have written:", *stale]))
    made = keep(root, FOLDER / version, version, nodes)
    print(f"{made.wheel}, sha256 {made.sha256}, of commit {made.commit}: {len(made.nodes)} node versions")


def refusal(root: Path, version: str, source: str) -> str:
    """Why no such release can be made of a repository whose sources say they are version `source`; empty if it can."""
    if version != source:
        return f"the sources say they are {source}, not {version}: set RELEASE in execnodes/core/version.py and commit"
    if (root / "releases" / version).exists():
        return f"release {version} is there already; a release is never made again"
    unstable = root / "tests" / "unstable.txt"
    if unstable.exists() and (names := unstable.read_text(encoding="utf-8").strip()):
        return f"tests fail beside others and pass alone: mend them, and take them out of the list\n{names}"
    changed = _git(root, "status", "--short").decode().strip()
    return f"there are changes that are not committed:\n{changed}" if changed else ""


def keep(root: Path, folder: Path, version: str, nodes: dict[str, Any]) -> Release:
    """Build the wheel of a repository's HEAD into `folder`, and write down what it is."""
    commit, time = _git(root, "log", "-1", "--format=%H %ct").decode().split()
    wheel = build(root, commit, int(time), folder)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    release = Release(version, commit, f"{datetime.fromtimestamp(int(time), UTC):%F}", wheel.name, digest, nodes)
    text = json.dumps(asdict(release), indent=2, ensure_ascii=False)
    (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8")
    return release


def build(root: Path, commit: str, time: int, folder: Path) -> Path:
    """The wheel of a commit, made under a time (epoch seconds), in `folder`."""
    with tempfile.TemporaryDirectory() as sources:
        with tarfile.open(fileobj=BytesIO(_git(root, "archive", "--format=tar", commit))) as archive:
            archive.extractall(sources, filter="data")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), sources]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        subprocess.run(command, check=True, env=environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
