"""A savepoint's manifest: what is in the folder. It is sealed, and read strictly."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError, ValidationInfo

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateColumn, StateMeaning
from execnodes.core.types import parse_type
from execnodes.core.version import ENGINE_VERSION, version_tuple
from execnodes.terms.shown import TEXT
from execnodes.terms.stored import Shelf, StoredTerm, restored
from execnodes.terms.term import Term, leaf
from plans.compatibility.canonical import column_term
from plans.compatibility.plan_meanings import POSITION
from plans.format.document import MAX_PARALLELISM
from rekindle.files.json_files import Count

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMAT = "rekindle-savepoint"
VERSION = 2
"""Of the format. In format 1 (1.0 to 1.2) meanings are texts; since 2 they are trees, and texts are beside them."""
NAME = "manifest.json"
PLAN = "plan.json"
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256."""
Name = Annotated[str, Field(min_length=1)]
_STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def _meant(value: object, info: ValidationInfo) -> Term:
    """A term by its place, with its text for people; format 1 has but the text."""
    terms = info.context
    if terms is None and isinstance(value, str):
        return leaf(TEXT, value)
    if isinstance(terms, list) and isinstance(value, dict) and set(value) == {"text", "term"}:
        text, place = value["text"], value["term"]
        if isinstance(text, str) and type(place) is int and 0 <= place < len(terms):
            return _a_term(terms[place])
    raise ValueError("it is no meaning")


def _a_term(value: object) -> Term:
    assert isinstance(value, Term)
    return value


Meant = Annotated[Term, PlainValidator(_meant)]
"""What is meant, by its place among the terms of the manifest."""


@dataclass(frozen=True)
class SavedState:
    """One state of one operator."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    uid: Name
    name: Name
    schema: tuple[tuple[str, str], ...]
    """Columns and their Flink types."""
    key: tuple[str, ...]
    bucketed: bool
    ttl_ms: Count
    parts: Mapping[str, Meant]
    """What all its rows depend on (see `StateMeaning`)."""
    meanings: tuple[Meant, ...]
    """What each column holds."""
    sources: tuple[str, ...]
    """Uids of the sources whose rows it has seen."""
    max_parallelism: Annotated[int, Field(ge=1, le=MAX_PARALLELISM)]
    rows: Count
    bytes: Count
    files: Mapping[str, Digest]
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
        terms = [column_term(each.says, self.serializers) if each.kind == TEXT else each for each in self.meanings]
        columns = tuple(StateColumn(*pair, term) for pair, term in zip(self.schema, terms, strict=True))
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

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    operation: str
    """``rename``, ``drop``, ``transform``, …"""
    uid: str
    name: str
    rows_before: Count
    rows_after: Count
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

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    engine: str
    """Engine version that took it, or has migrated it last."""
    plan_sha256: Digest
    watermark: Count
    """Epoch ms; 0 if there was none."""
    positions: Mapping[str, str]
    """Source uid to where it goes on; absent for sources that had not begun."""
    sources: Mapping[str, Mapping[str, Meant]]
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
        """As it is written, sealed."""
        shelf = Shelf()
        content = {"format": FORMAT, "version": VERSION, **_fields(self, shelf)}
        if not self.history:
            del content["history"]
        for state in content["states"]:
            if not state["serializers"]:
                del state["serializers"]
        return sealed({**content, "terms": [each.json() for each in shelf.terms]})


def _fields(value: DataclassInstance, shelf: Shelf) -> dict[str, Any]:
    return {each.name: _json(getattr(value, each.name), shelf) for each in fields(value)}


def _json(value: object, shelf: Shelf) -> Any:
    """As JSON has it; terms go to the shelf."""
    if isinstance(value, Term):
        return {"text": value.text, "term": shelf.place(value)}
    if isinstance(value, Mapping):
        return {name: _json(each, shelf) for name, each in value.items()}
    if isinstance(value, tuple):
        return [_json(each, shelf) for each in value]
    return _fields(value, shelf) if isinstance(value, SavedState | Step) else value


def sealed(content: Mapping[str, Any]) -> str:
    """The text of a manifest, with a checksum over all the rest of it."""
    rest = {key: value for key, value in content.items() if key != "seal"}
    return json.dumps({**rest, "seal": _seal(rest)}, indent=2, ensure_ascii=False) + "\n"


def _seal(rest: Mapping[str, Any]) -> str:
    """However it is laid out."""
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def parsed(path: Path) -> tuple[Manifest, bool, bool]:
    """The manifest of a file, whether it is sealed, and whether it has trees."""
    try:
        if not path.is_file():
            raise wrong(path, "this is no savepoint: there is no manifest", "Name the folder that `savepoint` wrote.")
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise wrong(path, "this is not a manifest of Rekindle's", "Name the folder that `savepoint` wrote.")
        version = found.get("version")
        if type(version) is not int or version < 1:
            raise ValueError(f"version: {version!r} is none")
        if version > VERSION:
            raise wrong(
                path,
                f"the savepoint has format {version}, this engine reads up to {VERSION}",
                "Restore it with the engine version that wrote it, or a newer one.",
            )
        engine = version_tuple(found.get("engine"))
        if engine > version_tuple(ENGINE_VERSION):
            raise wrong(
                path,
                f"the savepoint was taken by engine version {found['engine']}, this engine is version {ENGINE_VERSION}",
                f"Restore it with Rekindle {found['engine']} or newer, or use a savepoint that engine version "
                f"{ENGINE_VERSION} took.",
            )
        is_sealed = "seal" in found or engine >= _SEALED_SINCE
        if is_sealed and found.pop("seal", None) != _seal(found):
            raise ValueError("seal: it is not that of the rest")
        terms = None
        if version > 1:
            terms = restored(_TERMS.validate_json(json.dumps(found.pop("terms", None)), strict=True))
        return (
            _strictly({key: found[key] for key in found if key not in ("format", "version")}, terms),
            is_sealed,
            terms is not None,
        )
    except OSError as error:
        raise wrong(path, f"the manifest cannot be read: {error.strerror}", "Check its permissions.") from error
    except (ValueError, RecursionError) as error:
        raise wrong(path, f"the manifest is damaged: {_told(error)}", "Use another savepoint.") from error


_SEALED_SINCE = (1, 3)
"""Engine version. Older ones refuse what newer ones have written, so the format has no other number."""


def _strictly(content: dict[str, Any], terms: list[Term] | None) -> Manifest:
    """ValueError for all that is not as it was written."""
    # In JSON lists are tuples, also where it is strict otherwise.
    manifest = _MANIFEST.validate_json(json.dumps(content), strict=True, context=terms)
    titles = [(each.uid, each.name) for each in manifest.states]
    for number, state in enumerate(manifest.states):
        place = f"states.{number} ({state.title})"
        names = [name for name, _ in state.schema]
        if len(names) != len(state.meanings):
            raise ValueError(f"{place}: a state has columns without meaning")
        if len(set(names)) != len(names) or not set(state.key) <= set(names) or len(set(state.key)) != len(state.key):
            raise ValueError(f"{place}: the key is not made of its columns, or two columns have one name")
        for name, text in state.schema:
            try:
                parse_type(text)
            except ValueError as error:
                raise ValueError(f"{place}: column {name}: {error}") from error
    if len(set(titles)) != len(titles):
        raise ValueError("states: two have one name")
    return manifest


_MANIFEST = TypeAdapter(Manifest)
_TERMS = TypeAdapter(tuple[StoredTerm, ...])
_STEPS = TypeAdapter(tuple[Step, ...])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(each for each in names if names.count(each) > 1)!r} is there twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _told(error: ValueError | RecursionError) -> str:
    """With the path to a field that is not as it should be."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:500]


def steps(found: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """A history as it is kept in JSON."""
    return _STEPS.validate_json(json.dumps(list(found)), strict=True)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def wrong(path: Path, message: str, hint: str) -> StateError:
    """What is wrong with a file of a savepoint."""
    return StateError(message, where=str(path), hint=hint)
