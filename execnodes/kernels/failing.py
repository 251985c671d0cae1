"""Errors in workers that say where the SQL has what failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from execnodes.core.errors import JobError
from execnodes.core.places import Place, explain, told


def located(error: JobError, place: Place | None) -> JobError:
    """The error with a place, for the driver to read; one that has a place keeps it."""
    if place is None or explain(error.message)[1] is not None:
        return error
    return JobError(error.message + told(place), where=error.where, hint=error.hint)


@contextmanager
def failing_at(place: Place | None) -> Iterator[None]:
    """Errors of ours inside have a place."""
    try:
        yield
    except JobError as error:
        raise located(error, place) from error
