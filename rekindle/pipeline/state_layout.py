"""How the state in a job folder is laid out, and which engine ran the job last: what it takes to go on there.

A checkpoint is not converted. An engine that lays the job's state out otherwise goes on by way of a savepoint.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from execnodes.core.errors import JobError
from execnodes.core.version import ENGINE_VERSION, version_tuple
from plans.compatibility.plan_meanings import meanings
from rekindle.files.atomic_file import write_atomically
from rekindle.files.json_files import read_json
from rekindle.pipeline.record import OperatorRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from execnodes.core.graph import ExecGraph
    from rekindle.files.job_folder import JobFolder
    from rekindle.pipeline.record import Step

FORMAT = 1
"""Of pages in a checkpoint."""


@dataclass(frozen=True)
class StateLayout:
    """One state as the checkpoint holds it."""

    uid: str
    name: str
    schema: tuple[tuple[str, str], ...]
    """Columns and their Flink types."""
    key: tuple[str, ...]
    bucketed: bool
    derived: bool
    ttl_ms: int = field(compare=False)
    meaning: dict[str, Any] = field(default_factory=dict, compare=False)
    """`parts`, `columns`, `sources` and `serializers` of its `StateMeaning`; empty for derived state."""

    @property
    def title(self) -> str:
        """As people name it."""
        return f"{self.uid}:{self.name}"


@dataclass(frozen=True)
class FolderLayout:
    """What `JobFolder.layout_file` says."""

    engine: str
    """Engine version that ran the job last."""
    states: tuple[StateLayout, ...]
    format: int = FORMAT

    def text(self) -> str:
        """As it is written."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


class _Header(TypedDict):
    """What a layout of any version begins with."""

    engine: str


_HEADER, _LAYOUT = TypeAdapter(_Header), TypeAdapter(FolderLayout)
_ANEW = "Start from a savepoint in a new --job-dir."


def layout_of(graph: ExecGraph, steps: Iterable[Step]) -> FolderLayout:
    """How this engine lays out the state of a pipeline."""
    meant = {(each.uid, each.name): each for each in meanings(graph)}
    states = []
    for operator in (step.operator for step in steps if isinstance(step, OperatorRecord)):
        for spec in operator.states:
            uid = operator.uid
            schema = tuple((column.name, str(column.type)) for column in spec.columns)
            made = StateLayout(uid, spec.name, schema, spec.key, spec.bucketed, spec.derived, spec.ttl_ms)
            found = meant.get((uid, spec.name))
            if found is not None and not spec.derived:
                meaning = {
                    "parts": {label: term.text for label, term in found.parts.items()},
                    "columns": [each.meaning.text for each in found.columns],
                    "sources": sorted(found.sources),
                    "serializers": dict(found.serializers),
                }
                made = replace(made, meaning=meaning)
            states.append(made)
    return FolderLayout(ENGINE_VERSION, tuple(states))


def read_layout(folder: JobFolder) -> FolderLayout | None:
    """What the folder says; None for one that says nothing. JobError if a newer engine ran the job."""
    header = read_json(folder.layout_file, _HEADER, hint=_ANEW)
    if header is None:
        return None
    if _newer(header["engine"], folder):
        raise JobError(
            f"the job was run by engine version {header['engine']}, this engine is version {ENGINE_VERSION}",
            where=str(folder.path),
            hint=f"Go on with Rekindle {header['engine']} or newer; or start in a new --job-dir from a savepoint that "
            f"engine version {ENGINE_VERSION} took.",
        )
    return read_json(folder.layout_file, _LAYOUT, hint=_ANEW)


def _newer(engine: str, folder: JobFolder) -> bool:
    try:
        return version_tuple(engine) > version_tuple(ENGINE_VERSION)
    except ValueError as error:
        where = str(folder.layout_file)
        raise JobError(f"{engine!r} is no engine version", where=where, hint=_ANEW) from error


def check_layout(folder: JobFolder, layout: FolderLayout, converted: Collection[str] = ()) -> None:
    """JobError if the checkpoint holds state that is laid out otherwise, or that a newer engine has written.

    `converted`: titles of states whose pages are converted when they are touched (see `page_layouts`).
    """
    known = read_layout(folder)
    if known is None or folder.committed_batch() is None:
        return
    now = {each.title: each for each in layout.states}
    changed = {each.title for each in known.states if now.get(each.title) != each} | {*now} - _titles(known)
    other = sorted(changed - {*converted})
    if other or known.format != layout.format:
        raise JobError(
            f"the job folder was written by engine version {known.engine}, and this engine ({layout.engine}) lays out "
            f"state otherwise: {', '.join(other) or 'all of it'}",
            where=str(folder.path),
            hint=f"Take a savepoint of the job with Rekindle {known.engine}, and start from it in a new --job-dir: "
            "state is converted then.",
        )


def keep_layout(folder: JobFolder, layout: FolderLayout) -> None:
    """Write down how the folder's state is laid out from now on."""
    write_atomically(folder.layout_file, layout.text(), replace=True, private=True)


def _titles(layout: FolderLayout) -> set[str]:
    return {each.title for each in layout.states}
