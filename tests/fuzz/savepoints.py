"""Damage to stored savepoints: each is refused, or the savepoint is read as what it was."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from execnodes.core.version import ENGINE_VERSION
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, Step, sealed
from rekindle.savepoints.reader import SavepointReader
from tests.fuzz.frame import Defect, Fuzzer
from tests.restore.program import FIXTURES
from tests.savepoints.saved import AGGREGATES

_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 7, 10**12, 2**63, 10**400, 1.5, 1e300, "", "x", "..", "../plan.json", "/etc/passwd", "\0",
    "\ud800", "${env:HOME}", "'; DROP", "INT", [], [[]], {}, {"a": 1}, [["k", "INT"]], "0" * 64, "é" * 300, "2",
    "STRING", "ROW<`a\"b` INT>", "DECIMAL(38, 38)", "a`b\"c'd", 2**31, {"text": "a", "term": 0}, "0:0", " ", "%s[?]*",
)  # fmt: skip
_TEXTS = ("NaN", "1e999", "[" * 5000, '"\\ud800"', '{"a":1,"a":2}', "9" * 5000, "\x00", "}", "tru")
_SOURCES = {
    "not sealed": AGGREGATES,
    "sealed": AGGREGATES,
    "trees": FIXTURES / "stream-exec-rank_1/updated/savepoint",
    "changed": FIXTURES / "stream-exec-rank_1/updated/savepoint",
    "two sources": FIXTURES / "stream-exec-over-aggregate_1/other_orders/savepoint",
}
"""Format 1 as it was written and with a seal; format 2, that of a migrated savepoint, with two positions."""
_KINDS = (
    *("value", "value", "foreign", "foreign", "drop", "text", "cut", "byte", "missing", "swapped", "added", "renamed"),
    *("linked", "elsewhere", "pipe", "folder", "format", "plan", "resealed", "resealed", "resealed foreign"),
)


@cache
def _whole(name: str) -> tuple[Path, Manifest]:
    folder = Path(tempfile.mkdtemp(prefix="rekindle-fuzz-")) / "savepoint"
    shutil.copytree(_SOURCES[name], folder)
    if name == "sealed":
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        (folder / NAME).write_text(sealed({**content, "engine": ENGINE_VERSION}), encoding="utf-8")
    if name == "changed":
        found = read(folder)
        state = found.states[0]
        steps = (
            Step("rename", state.uid, state.name, 3, 3, "to other"),
            Step("transform", state.uid, state.name, 3, 2, "", state.schema),
        )
        (folder / NAME).write_text(replace(found, history=steps).text(), encoding="utf-8")
    return folder, read(folder)


def draw(random: Random) -> str:
    """A few damages, a line each: kind, then numbers that choose the place."""
    lines = [
        json.dumps([random.choice(_KINDS), *(random.randrange(2**16) for _ in range(3))])
        for _ in range(random.choice((1, 1, 1, 2)))
    ]
    return "\n".join([random.choice(list(_SOURCES)), *lines])


def run(case: str) -> None:
    """Damage a copy and read it; Defect if it is read as something else."""
    first, *lines = case.splitlines() or [""]
    if first not in _SOURCES:
        return
    source, manifest = _whole(first)
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
            honest = honest and not str(kind).startswith("resealed")
            _damage(folder, str(kind), a, b, c)
        found = read(folder)
        if found == manifest and _content(folder, found) == _content(source, manifest):
            return
        # Without a seal, or with a new one, a manifest can say other things that are all in themselves right.
        if honest and first != "not sealed":
            raise Defect("a damaged savepoint was read")
        for each in found.states:
            known = next((state for state in manifest.states if state.files == each.files), None)
            if known is None or known.rows != each.rows:
                raise Defect(f"{each.title} has other rows or files than it had")
        _look(SavepointReader(folder, found))


def _look(reader: SavepointReader) -> None:
    """Everything that is read of a savepoint without its plan."""
    for each in reader.manifest.meanings:
        str(each)
    for step in reader.manifest.history:
        str(step)
    for state in reader.states:
        for _ in reader.batches(state.title):
            pass
        reader.skew(state.title)
    with reader.query("SELECT * FROM savepoint") as (_, rows):
        list(rows)


def _content(folder: Path, manifest: Manifest) -> dict[str, str]:
    names = [PLAN, *(name for each in manifest.states for name in each.files)]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _damage(folder: Path, kind: str, a: int, b: int, c: int) -> None:
    path = folder / NAME
    files = sorted(each for each in folder.rglob("*") if each.is_file() and each != path)
    file = files[a % len(files)] if files else path
    if not path.is_file() or not file.is_file():
        return
    match kind:
        case "value" | "foreign" | "drop" | "format" | "resealed" | "resealed foreign":
            _in_manifest(path, kind, a, b)
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
            file.unlink()
        case "swapped":
            other = files[b % len(files)]
            one, two = file.read_bytes(), other.read_bytes()
            file.write_bytes(two)
            other.write_bytes(one)
        case "added":
            (file.parent / f"part-{b}.parquet").write_bytes(file.read_bytes())
        case "renamed":
            if file.parent != folder:
                named = file.parent.with_name(("..x", "a", "é", " ", "x" * 200)[b % 5])
                if not named.exists():
                    file.parent.rename(named)
        case "linked":
            moved = folder.with_name(f"outside-{b}")
            file.rename(moved)
            file.symlink_to(moved if c % 2 else file)
        case "elsewhere":
            # The folder of a state, or the manifest, stands behind a link.
            target = path if c % 2 or file.parent == folder else file.parent
            moved = folder.with_name(f"outside-{b}")
            target.rename(moved)
            target.symlink_to(moved)
        case "pipe" | "folder":
            target = (path, file, folder / "state" / "more")[c % 3]
            target.unlink(missing_ok=True)
            os.mkfifo(target) if kind == "pipe" else target.mkdir()
        case "plan":
            # Another plan, with a manifest that says so.
            if (folder / PLAN).is_dir():
                return
            (folder / PLAN).unlink(missing_ok=True)
            (folder / PLAN).write_bytes((_SOURCES[list(_SOURCES)[b % len(_SOURCES)]] / PLAN).read_bytes())
        case _:
            return


def _in_manifest(path: Path, kind: str, a: int, b: int) -> None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        owner, key = _place(content, Random(a))
    except (ValueError, IndexError, RecursionError):
        return
    if kind == "drop":
        del owner[key]
    elif kind == "format":
        content["version"] = (1, 2, 0, 3, -1, "1", True, None)[b % 8]
    elif kind.endswith("foreign"):
        other = json.loads((_SOURCES[list(_SOURCES)[b % len(_SOURCES)]] / NAME).read_text(encoding="utf-8"))
        random = Random(b)
        for _ in range(20):
            found, there = _place(other, random)
            if there == key or isinstance(there, int):
                owner[key] = found[there]
                break
    else:
        owner[key] = _VALUES[b % len(_VALUES)]
    text = sealed(content) if kind.startswith("resealed") and isinstance(content, dict) else json.dumps(content)
    path.write_bytes(text.encode("utf-8", "replace"))


def _place(content: Any, random: Random) -> tuple[Any, Any]:
    """A random place in a document: its owner, and the key or index in it."""
    owner, key = None, None
    while isinstance(content, (dict, list)) and content and (owner is None or random.random() < 0.8):
        owner, key = content, random.choice(list(content) if isinstance(content, dict) else range(len(content)))
        content = owner[key]
    if owner is None:
        raise IndexError("nothing there")
    return owner, key


FUZZER = Fuzzer(draw, run, quick=90)
