"""A savepoint by its folder, or one of a job that is taken to be looked at."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from execnodes.core.errors import StateError
from execnodes.core.options import Configuration
from rekindle.files.paths import entered
from rekindle.jobs.home import NoSuchJobError, find_job
from rekindle.jobs.savepoint import take_savepoint
from rekindle.savepoints.manifest import NAME
from rekindle.savepoints.reader import SavepointReader


@contextmanager
def opened(text: str, configuration: Configuration) -> Iterator[SavepointReader]:
    """The savepoint in a folder; for a job, one that is taken now and gone afterwards."""
    folder = entered(text)
    if (folder / NAME).is_file():
        yield SavepointReader.read(folder)
        return
    try:
        job = find_job(text, configuration)
    except NoSuchJobError as error:
        raise StateError("this is neither a savepoint nor a job", where=text, hint=error.hint) from None
    place = Path(tempfile.mkdtemp(prefix="rekindle-inspect-"))
    try:
        yield SavepointReader(place / "savepoint", take_savepoint(job, place / "savepoint"))
    finally:
        shutil.rmtree(place, ignore_errors=True)
