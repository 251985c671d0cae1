"""Folders of jobs that releases up to 1.5 ran: when this engine takes over what Spark's checkpoint has."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import JobError
from rekindle.files.job_folder import JobFolder
from rekindle.savepoints.adoption import adoption

OFFSETS = 'v2\n{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{},"sourceMetadataInfo":{}}\n1_source:{"logOffset":0}'


def folder_of(path: Path, *, planned: int, committed: int) -> JobFolder:
    for log, last, text in (("offsets", planned, OFFSETS), ("commits", committed, 'v1\n{"nextBatchWatermarkMs":0}')):
        (path / "checkpoint" / log).mkdir(parents=True)
        for batch in range(last + 1):
            (path / "checkpoint" / log / str(batch)).write_text(text)
    return JobFolder(path)


@pytest.mark.parametrize("stopped", [False, True])
def test_what_is_committed_is_taken_over(tmp_path: Path, stopped: bool) -> None:
    found = adoption(folder_of(tmp_path, planned=3, committed=3), stopped=stopped)
    assert found is not None
    assert found.batch == 3


@pytest.mark.parametrize("stopped", [False, True])
def test_a_job_that_has_committed_nothing_begins_anew(tmp_path: Path, stopped: bool) -> None:
    assert adoption(folder_of(tmp_path, planned=-1, committed=-1), stopped=stopped) is None


@pytest.mark.parametrize("planned", [0, 4])
def test_what_may_have_reached_sinks_in_part_is_for_the_engine_that_began_it(tmp_path: Path, planned: int) -> None:
    folder = folder_of(tmp_path, planned=planned, committed=planned - 1)
    told = f"was interrupted in micro-batch {planned}, which its sinks may have in part"
    with pytest.raises(JobError, match=told) as refused:
        adoption(folder, stopped=False)
    assert "rekindle stop" in str(refused.value)
    assert folder.planned_batch() == planned


def test_a_job_that_was_stopped_leaves_what_it_had_planned(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, planned=4, committed=3)
    found = adoption(folder, stopped=True)
    assert found is not None
    assert (found.batch, folder.planned_batch()) == (3, 3)


def test_it_is_taken_over_once(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, planned=3, committed=3)
    (folder.state / "log").mkdir(parents=True)
    (folder.state / "log" / "000000000000.committed").write_text('{"micro_batch": 4}')
    assert adoption(folder, stopped=False) is None
    found = adoption(folder_of(tmp_path / "other", planned=3, committed=3), stopped=False)
    assert found is not None
    found.finish()
    assert not found.folder.checkpoint.exists()
