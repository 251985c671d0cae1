"""The log: what an entry has on disk, and what is read of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.errors import JobError
from rekindle.engine.differences import changed, difference
from rekindle.engine.log import KEPT, WHOLE, Facts, Log, newest_entry
from rekindle.engine.store.disk import LocalDisk

NOTHING = Facts(watermark=None, reached={}, ended=(), timers={}, state={}, counters={})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "is"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["is", "in", "from", "more"]), inner),
    max_leaves=8,
)


@given(JSON, JSON)
def test_differences_lead_to_what_is_there(before: Any, after: Any) -> None:
    assert changed(before, difference(before, after)) == after


@given(st.lists(JSON, min_size=1, max_size=6), st.lists(JSON, max_size=3), st.integers(0, 5))
def test_lists_that_grow_or_lose_their_first_values_are_not_told_again(
    before: list[Any], more: list[Any], gone: int
) -> None:
    assert difference({"read": before}, {"read": [*before, *more]}) == {"in": {"read": {"from": 0, "more": more}}}
    rest = before[gone:]
    assert changed(before, difference(before, rest)) == rest
    assert len(difference(before, rest).get("more", ())) == 0 or rest == []


@pytest.mark.parametrize(
    "found", [{}, {"from": 4, "more": []}, {"from": 0, "more": 1}, {"in": {"b": {"is": 1}}}, {"in": 1}]
)
def test_what_is_no_difference_is_refused(found: dict[str, Any]) -> None:
    for before in ([1, 2], {"a": 1}, None):
        if before != [1, 2] or "from" not in found or found["more"] == 1:
            with pytest.raises(ValueError, match="is no difference"):
                changed(before, found)


def _grown(count: int) -> dict[str, Any]:
    return {"source": {"read": [{"path": f"{each:06d}.json", "size": 10} for each in range(count)], "left": None}}


def _run(log: Log, batches: int) -> None:
    for _ in range(batches):
        number = log.last.micro_batch + 1
        log.commit(log.plan(_grown(number + 1), (), (), None), NOTHING)
        log.tidy()


def test_entries_do_not_grow_with_what_has_been_read(tmp_path: Path) -> None:
    disk = LocalDisk(str(tmp_path))
    log = Log(disk)
    _run(log, 3 * KEPT)
    sizes = sorted(file.stat().st_size for file in (tmp_path / "log").iterdir())
    large = [each for each in sizes if each > 1000]
    assert len(large) <= KEPT // WHOLE + 1, sizes
    assert newest_entry(disk) == log.last
    assert log.last.positions == _grown(3 * KEPT)


@pytest.mark.parametrize("batches", [0, 1, WHOLE - 2, WHOLE - 1, WHOLE, WHOLE + 7])
def test_another_driver_finds_positions_and_plans_as_they_are(tmp_path: Path, batches: int) -> None:
    disk = LocalDisk(str(tmp_path))
    log = Log(disk)
    _run(log, batches)
    planned = log.plan(_grown(batches + 5), (), (), None)
    other = Log(disk)
    assert other.last.positions == log.last.positions == ({} if not batches else _grown(batches))
    assert other.plan(_grown(1), (), (), None) == planned
    _run(other, 3)
    assert newest_entry(disk) == other.last


def test_an_entry_whose_beginning_is_gone_is_told(tmp_path: Path) -> None:
    disk = LocalDisk(str(tmp_path))
    _run(Log(disk), 5)
    (tmp_path / "log" / f"{2:012d}.committed").unlink()
    with pytest.raises(JobError, match=r"entries of the log before this one are missing") as told:
        newest_entry(disk)
    assert told.value.where == disk.place(f"log/{5:012d}.committed")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.mkdir(), "this is no file"),
        (lambda path: os.mkfifo(path), "this is no file"),
        (lambda path: path.symlink_to(path), "the file cannot be read: Too many levels of symbolic links"),
        (lambda path: path.write_text("{"), "the file cannot be read: Invalid JSON"),
        (lambda path: shutil.copy(path.with_stem(f"{1:012d}"), path), "the file is of number 1, not 2"),
    ],
    ids=["folder", "pipe", "loop", "text", "another"],
)
def test_what_is_no_entry_is_told(tmp_path: Path, damage: Callable[[Path], object], said: str) -> None:
    disk = LocalDisk(str(tmp_path))
    _run(Log(disk), 2)
    path = tmp_path / "log" / f"{2:012d}.committed"
    path.unlink()
    damage(path)
    with pytest.raises(JobError, match=said):
        newest_entry(disk)


def test_a_log_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with pytest.raises(JobError, match="this is no folder"):
        newest_entry(LocalDisk(str(tmp_path)))


def test_a_micro_batch_that_an_older_release_began_ends_as_it_would_have(tmp_path: Path) -> None:
    """Sinks know rows by the step they came in, and steps were others before 2.3."""
    disk = LocalDisk(str(tmp_path))
    log = Log(disk)
    assert log.plan({"1_source": 5}, (), (), None).chained
    (file,) = (tmp_path / "log").glob("*.planned")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(',\n "chained": true', ""), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    assert not Log(disk).plan({"1_source": 9}, (), (), None).chained
