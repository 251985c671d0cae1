"""How many subtasks an operator has: what the job's folder began with."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rekindle.runtime.assemble import subtasks_of


def subtasks(folder: Path, tasks: int) -> int:
    """Those of a job in a folder, in a session of so many tasks."""
    order: Any = SimpleNamespace(folder=SimpleNamespace(path=folder), graph=SimpleNamespace(max_parallelism=8))
    session: Any = SimpleNamespace(conf={"spark.sql.shuffle.partitions": str(tasks)})
    return subtasks_of(order, session)


@pytest.mark.parametrize("later", [1, 2, 7, 100])
def test_subtasks_stay_what_they_were_when_the_folder_began(tmp_path: Path, later: int) -> None:
    """State is spread over them."""
    assert subtasks(tmp_path, 4) == 4
    assert subtasks(tmp_path, later) == 4


def test_there_are_no_more_subtasks_than_key_groups(tmp_path: Path) -> None:
    assert subtasks(tmp_path, 100) == 8
