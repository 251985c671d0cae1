"""A savepoint's manifest: what is in the folder, and the checks that it is whole and ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateColumn, StateMeaning
from execnodes.core.version import ENGINE_VERSION, version_tuple
from plans.meaning import POSITION

FORMAT = "rekindle-savepoint"
VERSION = 1
NAME = "manifest.json"
PLAN = "plan.json"


@dataclass(frozen=True)
class SavedState:
    """One state of one operator."""

    uid: str
    name: str
    schema: tuple[tuple[str, str], ...]
    """Columns and their Flink types."""
    key: tuple[str, ...]
    bucketed: bool
    ttl_ms: int
    parts: Mapping[str, str]
    """What all its rows depend on (see `StateMeaning`)."""
    meanings: tuple[str, ...]
    """What each column holds."""
    sources: tuple[str, ...]
    """Uids of the sources whose rows it has seen."""
    max_parallelism: int
    rows: int
    bytes: int
    files: Mapping[str, str]
    """Paths below the savepoint to their SHA-256."""
    serializers: Mapping[str, str] = field(default_factory=dict)
    """Snapshots of the accumulators of functions of the user (see `StateMeaning`)."""

    @property
    def title(self) -> str:
        """As people name it."""
        return f"{self.uid}:{self.name}"

    @property
    def meaning(self) -> StateMeaning:
        """To be compared with that of a plan."""
        columns = tuple(StateColumn(*pair, text) for pair, text in zip(self.schema, self.meanings, strict=True))
        sources = frozenset(self.sources)
        return StateMeaning(
            self.uid,
            self.name,
            self.parts,
            columns,
            self.bucketed,
            self.ttl_ms,
            sources,
            serializers=self.serializers,
        )


@dataclass(frozen=True)
class Step:
    """What a migration did to one state."""

    operation: str
    """``rename``, ``drop``, ``transform``, …"""
    uid: str
    name: str
    rows_before: int
    rows_after: int
    detail: str = ""
    schema_before: tuple[tuple[str, str], ...] = ()
    """Columns and their Flink types before; empty if they are the same."""

    @property
    def title(self) -> str:
        """As people name the state."""
        return f"{self.uid}:{self.name}"

    def __str__(self) -> str:
        """As the command line and the log show it."""
        text = f"{self.operation} {self.title}{f' {self.detail}' if self.detail else ''}"
        if self.name == POSITION:
            return text
        before, after = f"{self.rows_before:,}", f"{self.rows_after:,}"
        return f"{text}, {before if before == after else f'{before} -> {after}'} rows"


@dataclass(frozen=True)
class Manifest:
    """All that a savepoint says about itself."""

    engine: str
    """Engine version that took it, or has migrated it last."""
    plan_sha256: str
    watermark: int
    """Epoch ms; 0 if there was none."""
    positions: Mapping[str, str]
    """Source uid to where it goes on; absent for sources that had not begun."""
    sources: Mapping[str, Mapping[str, str]]
    """Source uid to what it reads (see `StateMeaning.parts`)."""
    states: tuple[SavedState, ...]
    history: tuple[Step, ...] = ()
    """What migrations, and restores that had to change something, have made of the states, in order."""

    @property
    def meanings(self) -> tuple[StateMeaning, ...]:
        """Positions of sources and states of operators, to be compared with those of a plan."""
        uids = {**self.sources, **self.positions}
        positions = (
            StateMeaning(uid, POSITION, self.sources.get(uid, {}), begun=uid in self.positions) for uid in uids
        )
        return (*positions, *(each.meaning for each in self.states))

    def text(self) -> str:
        """As it is written."""
        content = {"format": FORMAT, "version": VERSION, **asdict(self)}
        if not self.history:
            del content["history"]
        for state in content["states"]:
            if not state["serializers"]:
                del state["serializers"]
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read(folder: Path) -> Manifest:
    """The manifest of a whole savepoint; StateError names what is wrong and which file."""
    path = folder / NAME
    if not path.is_file():
        raise _wrong(path, "this is no savepoint: there is no manifest", "Name the folder that `savepoint` wrote.")
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise _wrong(path, "this is not a manifest of Rekindle's", "Name the folder that `savepoint` wrote.")
        if found["version"] > VERSION:
            raise _wrong(
                path,
                f"the savepoint has format {found['version']}, this engine reads up to {VERSION}",
                "Restore it with the engine version that wrote it, or a newer one.",
            )
        if version_tuple(found["engine"]) > version_tuple(ENGINE_VERSION):
            raise _wrong(
                path,
                f"the savepoint was taken by engine version {found['engine']}, this engine is version {ENGINE_VERSION}",
                f"Restore it with Rekindle {found['engine']} or newer, or use a savepoint that engine version "
                f"{ENGINE_VERSION} took.",
            )
        states = tuple(
            SavedState(
                **{
                    **each,
                    "schema": _pairs(each["schema"]),
                    **{name: tuple(each[name]) for name in ("key", "meanings", "sources")},
                }
            )
            for each in found["states"]
        )
        manifest = Manifest(
            found["engine"],
            found["plan_sha256"],
            int(found["watermark"]),
            dict(found["positions"]),
            dict(found["sources"]),
            states,
            steps(found.get("history", ())),
        )
        if any(len(each.schema) != len(each.meanings) for each in states):
            raise ValueError("a state has columns without meaning")
    except (ValueError, KeyError, TypeError) as error:
        raise _wrong(path, f"the manifest is damaged: {error!r}", "Use another savepoint.") from error
    _verify(folder, manifest)
    return manifest


def steps(found: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """A history as it is kept in JSON."""
    return tuple(Step(**{**each, "schema_before": _pairs(each["schema_before"])}) for each in found)


def _pairs(found: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, t) for name, t in found)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(folder: Path, manifest: Manifest) -> None:
    wanted = {PLAN: manifest.plan_sha256}
    for state in manifest.states:
        wanted |= dict(state.files)
    for name, expected in wanted.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise _wrong(folder / NAME, f"it names a file outside the savepoint: {name}", "Use another savepoint.")
        if not path.is_file():
            raise _wrong(path, "the file is missing", "The savepoint is not whole; copy it again or use another one.")
        if checksum(path) != expected:
            raise _wrong(path, "its checksum is wrong", "The file is damaged; copy it again or use another savepoint.")


def _wrong(path: Path, message: str, hint: str) -> StateError:
    return StateError(message, where=str(path), hint=hint)
