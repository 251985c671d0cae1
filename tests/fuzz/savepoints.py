"""Damage to stored savepoints: each is refused, or the savepoint is read as what it was."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from execnodes.core.version import ENGINE_VERSION
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, read, sealed
from tests.fuzz.frame import Defect, Fuzzer
from tests.savepoints.saved import AGGREGATES

_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 7, 10**12, 2**63, 10**400, 1.5, 1e300, "", "x", "..", "../plan.json", "/etc/passwd", "\0",
    "\ud800", "${env:HOME}", "'; DROP", "INT", [], [[]], {}, {"a": 1}, [["k", "INT"]], "0" * 64, "é" * 300, "2",
)  # fmt: skip
_TEXTS = ("NaN", "1e999", "[" * 5000, '"\\ud800"', '{"a":1,"a":2}', "9" * 5000, "\x00", "}", "tru")


@lru_cache(maxsize=2)
def _whole(*, is_sealed: bool) -> tuple[Path, Manifest]:
    """A savepoint of a release without seals, or the same sealed."""
    folder = Path(tempfile.mkdtemp(prefix="rekindle-fuzz-")) / "savepoint"
    shutil.copytree(AGGREGATES, folder)
    if is_sealed:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        (folder / NAME).write_text(sealed({**content, "engine": ENGINE_VERSION}), encoding="utf-8")
    return folder, read(folder)


def draw(random: Random) -> str:
    """A few damages, a line each: kind, then numbers that choose the place."""
    kinds = ("value", "drop", "text", "cut", "byte", "missing", "swapped", "added", "renamed", "linked", "resealed")
    lines = [
        json.dumps([random.choice(kinds), *(random.randrange(2**16) for _ in range(3))])
        for _ in range(random.choice((1, 1, 1, 2)))
    ]
    return "\n".join([random.choice(("sealed", "not sealed")), *lines])


def run(case: str) -> None:
    """Damage a copy and read it; Defect if it is read as something else."""
    first, *lines = case.splitlines() or [""]
    source, manifest = _whole(is_sealed=first == "sealed")
    with tempfile.TemporaryDirectory(prefix="rekindle-fuzz-") as place:
        folder = Path(place) / "savepoint"
        shutil.copytree(source, folder, symlinks=True)
        honest = True
        for line in lines:
            try:
                kind, *numbers = json.loads(line)
                a, b, c = (int(each) % 2**16 for each in numbers)
            except (ValueError, TypeError, OverflowError):
                return
            honest = honest and kind != "resealed"
            _damage(folder, str(kind), a, b, c)
        found = read(folder)
        if found == manifest and _content(folder, found) == _content(source, manifest):
            return
        # Without a seal, or with a new one, a manifest can say other things that are all in themselves right.
        if honest and first == "sealed":
            raise Defect("a damaged savepoint was read")
        for each in found.states:
            known = next((state for state in manifest.states if state.files == each.files), None)
            if known is None or known.rows != each.rows:
                raise Defect(f"{each.title} has other rows or files than it had")


def _content(folder: Path, manifest: Manifest) -> dict[str, str]:
    names = [PLAN, *(name for each in manifest.states for name in each.files)]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _damage(folder: Path, kind: str, a: int, b: int, c: int) -> None:
    path = folder / NAME
    files = sorted(each for each in folder.rglob("*") if each.is_file() and each != path)
    file = files[a % len(files)] if files else path
    match kind:
        case "value" | "drop" | "resealed":
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                owner, key = _place(content, Random(a))
            except (ValueError, IndexError, OSError):
                return
            if kind == "drop":
                del owner[key]
            else:
                owner[key] = _VALUES[b % len(_VALUES)]
            text = sealed(content) if kind == "resealed" and isinstance(content, dict) else json.dumps(content)
            path.write_bytes(text.encode("utf-8", "replace"))
        case "text":
            data = path.read_bytes()
            at = (a * 2**16 + b) % (len(data) + 1)
            path.write_bytes(data[:at] + _TEXTS[c % len(_TEXTS)].encode() + data[at + b % 9 :])
        case "cut":
            target = path if c % 2 else file
            target.write_bytes(target.read_bytes()[: b % (target.stat().st_size + 1)])
        case "byte":
            target = path if c % 2 else file
            changed = bytearray(target.read_bytes())
            if changed:
                changed[(a * 2**16 + b) % len(changed)] ^= 1 << c % 8
            target.write_bytes(changed)
        case "missing":
            file.unlink(missing_ok=True)
        case "swapped":
            other = files[b % len(files)] if files else path
            one, two = file.read_bytes(), other.read_bytes()
            file.write_bytes(two)
            other.write_bytes(one)
        case "added":
            (file.parent / f"part-{b}.parquet").write_bytes(file.read_bytes())
        case "renamed":
            if file.parent != folder:
                file.parent.rename(file.parent.with_name(("..x", "a", "é", " ", "x" * 200)[b % 5]))
        case "linked":
            moved = folder.with_name(f"outside-{b}")
            file.rename(moved)
            file.symlink_to(moved if c % 2 else file)
        case _:
            return


def _place(content: Any, random: Random) -> tuple[Any, Any]:
    """A random place in a document: its owner, and the key or index in it."""
    owner, key = None, None
    while isinstance(content, (dict, list)) and content and (owner is None or random.random() < 0.8):
        owner, key = content, random.choice(list(content) if isinstance(content, dict) else range(len(content)))
        content = owner[key]
    if owner is None:
        raise IndexError("nothing there")
    return owner, key


FUZZER = Fuzzer(draw, run, quick=60)
