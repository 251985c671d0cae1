"""Ways of a source's rows on which what fails for a row says which row it was. Pure data: no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from execnodes.core.places import ROW, row_text
from execnodes.lowering.stream import Branch, Made
from execnodes.lowering.words import with_part
from rekindle.pipeline.record import SourceRecord
from rekindle.pipeline.ways import Arm


def can_fail(source: SourceRecord, arms: tuple[Arm, ...]) -> bool:
    """Whether a row of the source can fail on its ways, and would say so."""
    return any(ROW in each for each in all_texts(source, arms))


def from_origin(origin: str, source: SourceRecord, arms: tuple[Arm, ...]) -> tuple[SourceRecord, tuple[Arm, ...]]:
    """The same ways; `origin`, a text over the columns of the source, says where a row is from (`places.row_text`)."""
    told = row_text(origin)

    def placed(text: str) -> str:
        return with_part(text, ROW, told)

    def layers(made: Iterable[tuple[Made, ...]]) -> Iterator[tuple[Made, ...]]:
        return (tuple(replace(each, text=placed(each.text)) for each in layer) for layer in made)

    def way(branch: Branch) -> Branch:
        return replace(
            branch,
            columns=tuple(map(placed, branch.columns)),
            condition=None if branch.condition is None else placed(branch.condition),
            kind=None if branch.kind is None else placed(branch.kind),
            made=tuple(layers(branch.made)),
        )

    times = [placed(each) for each in source.event_times]
    return (
        replace(source, event_times=times, made=list(layers(source.made))),
        tuple(replace(arm, branch=way(arm.branch)) for arm in arms),
    )


def all_texts(source: SourceRecord, arms: tuple[Arm, ...]) -> Iterator[str]:
    """What is computed for the rows of a source."""
    yield from source.event_times
    yield from (each.text for layer in source.made for each in layer)
    for arm in arms:
        yield from branch_texts(arm.branch)


def branch_texts(branch: Branch) -> Iterator[str]:
    """What is computed on a way."""
    yield from (*branch.columns, branch.condition or "", branch.kind or "")
    yield from (each.text for layer in branch.made for each in layer)
