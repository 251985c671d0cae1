"""Accumulators of functions of the user that have changed since their state was written: judged by their snapshots."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from execnodes.core.consent import ClassNotAllowedError
from execnodes.core.errors import RekindleError
from execnodes.core.expressions import AccumulatorSchema
from execnodes.core.meaning import StateColumn, StateMeaning, call_of
from execnodes.state.serializers.make import snapshot_of
from execnodes.state.serializers.migrate import AccumulatorChange
from execnodes.state.serializers.snapshot import CompatibilityType
from execnodes.terms.shown import shown
from execnodes.terms.term import Term
from plans.compatibility.carried import carried


@dataclass(frozen=True, slots=True)
class Evolved:
    """A state as it will be once its accumulators are converted."""

    state: StateMeaning
    changes: tuple[AccumulatorChange, ...] = ()
    problems: tuple[str, ...] = ()
    """Why an accumulator cannot go on."""
    unsure: bool = False
    """Whether a problem is only that a class was not allowed to be asked."""


def evolve(old: StateMeaning, new: StateMeaning) -> Evolved:
    """`old` with the accumulators of `new`, as far as the snapshots of both say that they can be converted."""
    columns, changes, problems, unsure = list(old.columns), [], [], False
    calls = _calls(old)
    for call in _calls(new):
        text = new.serializers.get(call.text)
        known = [
            old.serializers[each.text]
            for each in calls
            if each.text in old.serializers and carried(each, call) is not None
        ]
        if text is None or not known or known[0] == text:
            continue
        title = shown(call)
        before = AccumulatorSchema.model_validate_json(known[0])
        after = AccumulatorSchema.model_validate_json(text)
        try:
            found = snapshot_of(after).resolve_schema_compatibility(snapshot_of(before))
        except ClassNotAllowedError as error:
            problems.append(f"accumulator of {title}: {error.message}. {error.hint}")
            unsure = True
            continue
        except RekindleError as error:
            problems.append(f"accumulator of {title}: {error.message}")
            continue
        if found.verdict is CompatibilityType.INCOMPATIBLE:
            problems.append(f"accumulator of {title}: {found.reason}")
        elif found.verdict is not CompatibilityType.COMPATIBLE_AS_IS:
            olds = {_part(each): each.name for each in columns if _of(call, each)}
            columns = [each for each in columns if not _of(call, each)]
            taken = {each.name for each in columns}
            fresh = [replace(each, name=_free(each.name, taken)) for each in new.columns if _of(call, each)]
            columns += fresh
            news = {_part(each): each.name for each in fresh}
            changes.append(AccumulatorChange(title, found.reason or found.verdict, before, after, olds, news))
    return Evolved(replace(old, columns=tuple(columns)), tuple(changes), tuple(problems), unsure)


def _calls(state: StateMeaning) -> Collection[Term]:
    """A call may be known as a tree for one of its columns and as a text for another one; it is one call."""
    return {call.text: call for call in (call_of(each.meaning) for each in state.columns)}.values()


def _of(call: Term, column: StateColumn) -> bool:
    return column.meaning.kind == "accumulator" and carried(call_of(column.meaning), call) is not None


def _part(column: StateColumn) -> str:
    return column.meaning["part"][0].says


def _free(name: str, taken: set[str]) -> str:
    return name if name not in taken else _free(f"{name}'", taken)
