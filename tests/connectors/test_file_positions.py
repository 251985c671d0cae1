"""Positions of files: what a micro-batch reads, and what is told when files are not what they were."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import ConnectorError, JobError
from rekindle.connectors import file_positions
from rekindle.connectors.file_positions import FilePositions
from rekindle.connectors.positions import News


def source(path: Path | str, *, watched: bool = True, at_most: int = 0) -> FilePositions:
    # Local files are listed without Spark.
    spark: Any = None
    return FilePositions(spark, "t", str(path), watched, at_most)


def write(folder: Path, *names: str, size: int = 3) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * size)
        os.utime(path, (1e9 + len(list(folder.rglob("*"))),) * 2)


def planned(files: FilePositions, position: Any) -> News:
    news = files.plan(position)
    assert news is not None
    return news


def test_files_come_in_the_order_of_their_times_so_many_at_once(tmp_path: Path) -> None:
    write(tmp_path, "b", "a", "below/c")
    files = source(tmp_path, at_most=2)
    first = planned(files, None)
    assert files.between(None, first.position) == [str(tmp_path / "b"), str(tmp_path / "a")]
    second = planned(files, first.position)
    assert files.between(first.position, second.position) == [str(tmp_path / "below/c")]
    assert files.size(None, second.position) == 9
    assert files.plan(second.position) is None
    assert not second.ended


@pytest.mark.parametrize("watched", [True, False])
def test_what_waits_behind_a_bound_is_known_before_it_is_planned(tmp_path: Path, watched: bool) -> None:
    write(tmp_path, *"abcde")
    files = source(tmp_path, watched=watched, at_most=2)
    news, foretold = planned(files, None), []
    while news.then is not None:
        foretold.append(news.then())
        news = planned(files, news.position)
        assert news.position == foretold[-1]
    assert len(foretold) == 2
    assert len(news.position["read"]) == 5


def test_a_watched_folder_is_looked_at_once_an_interval(tmp_path: Path) -> None:
    now = 100.0
    files = FilePositions(source(tmp_path).spark, "t", str(tmp_path), True, 1, interval=5, clock=lambda: now)
    write(tmp_path, "a", "b")
    first = planned(files, None)
    second = planned(files, first.position)
    assert files.between(None, second.position) == [str(tmp_path / "a"), str(tmp_path / "b")]
    write(tmp_path, "c")
    now += 4.9
    assert files.plan(second.position) is None
    now += 0.1
    third = planned(files, second.position)
    assert files.between(second.position, third.position) == [str(tmp_path / "c")]
    assert files.plan(third.position) is None


def test_a_bounded_table_has_the_files_of_its_start(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    files = source(tmp_path, watched=False, at_most=1)
    first = planned(files, None)
    write(tmp_path, "c")
    second = planned(files, first.position)
    assert (first.ended, second.ended) == (False, True)
    assert files.between(first.position, second.position) == [str(tmp_path / "b")]
    # Asked again it gives nothing but that it has ended.
    assert planned(files, second.position) == second
    # A job that begins with the position of a savepoint has a start of its own.
    anew = planned(files, files.restored(json.dumps(second.position)))
    assert [each["path"] for each in anew.position["read"]] == ["a", "b", "c"]


@pytest.mark.parametrize("pattern", ["", "*", "a*"])
def test_data_may_move_with_its_job(tmp_path: Path, pattern: str) -> None:
    write(tmp_path / "here", "a1", "a2")
    position = planned(source(tmp_path / "here" / pattern), None).position
    (tmp_path / "here").rename(tmp_path / "there")
    write(tmp_path / "there", "a3")
    moved = source(tmp_path / "there" / pattern)
    assert moved.between(position, planned(moved, position).position) == [str(tmp_path / "there" / "a3")]


def test_a_table_may_be_one_file(tmp_path: Path) -> None:
    write(tmp_path, "a")
    files = source(tmp_path / "a", watched=False)
    news = planned(files, None)
    assert files.between(None, news.position) == [str(tmp_path / "a")]
    assert news.ended


def test_savepoints_of_before_name_paths(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    files = source(tmp_path)
    position = files.restored(json.dumps([str(tmp_path / "a")]))
    assert files.between(position, planned(files, position).position) == [str(tmp_path / "b")]
    write(tmp_path, "a", size=4)
    assert planned(files, position).position["read"][1]["path"] == "b"


def test_files_that_are_gone_or_have_changed_are_named(tmp_path: Path) -> None:
    write(tmp_path, "a")
    files = source(tmp_path)
    position = planned(files, None).position
    write(tmp_path, "a", size=5)
    with pytest.raises(ConnectorError, match="this micro-batch is to read has 5 bytes now, not 3") as changed:
        files.between(None, position)
    assert str(tmp_path / "a") in str(changed.value)
    with pytest.raises(ConnectorError, match="a file that has been read has 5 bytes now, not 3"):
        files.plan(position)
    (tmp_path / "a").unlink()
    with pytest.raises(ConnectorError, match="a file that this micro-batch is to read is gone"):
        files.between(None, position)
    # What was read may go.
    assert files.plan(position) is None


def test_a_file_that_is_gone_is_left_out_if_that_is_wanted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, "a", "b")
    files = source(tmp_path)
    files.ignores_missing = True
    position = planned(files, None).position
    (tmp_path / "a").unlink()
    assert files.between(None, position) == [str(tmp_path / "b")]
    assert caplog.messages == [f"table t: {tmp_path}/a is gone, and is left out"]


@pytest.mark.parametrize("position", [{"read": 1}, [], "done", {"read": [], "left": None, "more": 1}])
def test_what_is_no_position_is_refused(tmp_path: Path, position: Any) -> None:
    write(tmp_path, "a")
    with pytest.raises(JobError, match="the position is none of files"):
        source(tmp_path).plan(position)


@pytest.mark.parametrize("text", ["{", "done", "[1]", '{"read": 1}'])
def test_what_a_savepoint_says_is_checked(tmp_path: Path, text: str) -> None:
    with pytest.raises(JobError, match="the position is none of files"):
        source(tmp_path).restored(text)


def test_what_a_savepoint_had_read_is_read_again_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "c")
    files = source(tmp_path, at_most=2)
    position = planned(files, None).position
    again = files.until(json.dumps(position))
    assert again.bounded
    first = planned(again, None)
    assert first.ended
    assert again.between(None, first.position) == [str(tmp_path / "a"), str(tmp_path / "b")]
    # As 1.x wrote it.
    older = files.until(json.dumps([str(tmp_path / "c")]))
    assert older.between(None, planned(older, None).position) == [str(tmp_path / "c")]
    (tmp_path / "a").unlink()
    with pytest.raises(ConnectorError, match="is gone"):
        again.between(None, first.position)


def test_tasks_are_told_of_a_thousand_files_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_positions, "_MOST_FILES", 2)
    write(tmp_path, "a", "b")
    files = source(tmp_path)
    files.rows_for_tasks = lambda path: 0
    first = planned(files, None)
    assert [path for path, *_ in files.told(None, first.position) or ()] == [str(tmp_path / each) for each in "ab"]
    write(tmp_path, "c")
    assert files.told(None, planned(files, first.position).position) is None
