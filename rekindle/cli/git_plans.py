"""Plans as a git revision has them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from execnodes.core.errors import RekindleError
from plans.format.document import SCHEMA_PREFIX


def changed_plans(revision: str) -> list[Path]:
    """Plan files below the working directory that are not as the revision has them; RekindleError outside of git."""
    base = _base(revision, Path())
    if base is None:
        listed = _git(Path(), "ls-files", "-z", "--", "*.json")
    else:
        listed = _git(Path(), "diff", "--name-only", "--relative", "--diff-filter=d", "-z", base, "--", "*.json")
    paths = [Path(name) for name in listed.split("\0") if name]
    return [path for path in paths if f'"{SCHEMA_PREFIX}' in path.read_text(encoding="utf-8", errors="replace")]


def plan_at(revision: str, path: Path) -> str | None:
    """The text of a file in a revision; None if it has no such file."""
    folder = path.absolute().parent
    base = _base(revision, folder)
    where = f"{base}:./{path.name}"
    if base is None or _run(folder, "cat-file", "-e", where).returncode != 0:
        return None
    return _git(folder, "show", where)


def relative(path: Path) -> str:
    """A path as git takes it behind a revision: from the working directory."""
    found = Path(os.path.relpath(path)).as_posix()
    return found if found.startswith("../") else f"./{found}"


def _base(revision: str, folder: Path) -> str | None:
    """The commit of a revision; None in a repository that has no commits yet."""
    found = _run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode == 0:
        return found.stdout.strip()
    if _git(folder, "rev-list", "--all", "--max-count=1"):
        hint = "Name a branch, a tag or a commit; a shallow clone lacks most of them."
        raise RekindleError(f"git knows no revision {revision!r}", where=str(folder.absolute()), hint=hint)
    return None


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode != 0:
        raise RekindleError(f"git {arguments[0]}: {done.stderr.strip()}", where=str(folder.absolute()))
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8"
        )
    except FileNotFoundError:
        hint = "Install git, and run this in a folder that there is."
        raise RekindleError("git cannot be run", where=str(folder.absolute()), hint=hint) from None
