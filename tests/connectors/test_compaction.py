"""The file sink in the long run: one marker a job, and files that are compacted, exactly once whenever it is killed."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from execnodes.core.errors import OptionError
from rekindle.connectors.file_marks import FileMarks
from rekindle.connectors.file_rolling import Rolling
from rekindle.connectors.held_files import HeldFile, HeldPartition, show_held
from rekindle.connectors.registry import validate
from tests.connectors.file_writers import COMPACTED, Killed, Onlookers, Row, changes, rows_seen, seen, writer

MINUTE = 60_000
HIDDEN = {**COMPACTED, "compaction.file-size": "1 mb"}
"""Rows are not shown by their size."""


def batches(count: int) -> list[list[Row]]:
    """Of three rows in two partitions; every fourth one is empty."""
    return [[(10 * at + i, "ab"[i % 2]) for i in range(0 if at % 4 == 3 else 3)] for at in range(count)]


def numbers(given: Sequence[Sequence[Row]]) -> Counter[int]:
    return Counter(number for rows in given for number, _ in rows)


def markers(place: Path, job: str = "job-1") -> list[str]:
    return sorted(each.name for each in (place / "out" / "_rekindle" / job).iterdir() if each.name.isdigit())


@pytest.mark.parametrize("options", [{}, HIDDEN])
def test_a_job_has_one_marker(tmp_path: Path, options: dict[str, str]) -> None:
    sink = writer(tmp_path, options=options)
    for at, rows in enumerate(batches(20)):
        sink.write(rows, 1000 * at)
        assert markers(tmp_path) == [str(1000 * at)]
    for at in (19_000, 18_000, 500):
        sink.write([(7, "a")], at)
    writer(tmp_path, options=options).write([(8, "a")], 19_000)
    sink.flush()
    assert rows_seen(tmp_path / "out") == numbers(batches(20))


def test_markers_of_earlier_releases_go_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "_rekindle" / "job-1"
    folder.mkdir(parents=True)
    for at in range(3000):
        (folder / str(1000 * at)).touch()
    (folder / "1000.tmp").mkdir()
    (folder / "1000.tmp" / "part-0").touch()
    (folder / "3000000.tmp").mkdir()
    (tmp_path / "out" / "part-job-1-3000000-0.json").write_text('{"id": 1}\n')
    sink = writer(tmp_path, options={})
    assert sorted(os.listdir(folder)) == ["2999000", "3000000.tmp"]
    sink.write([(5, "a")], 2_999_000)
    sink.write([(6, "a")], 3_000_000)
    assert (markers(tmp_path), rows_seen(tmp_path / "out")) == (["3000000"], {6: 1})


def test_markers_that_a_crash_left_go_at_the_next_start(tmp_path: Path) -> None:
    for each in ("1", "2", "3.done", "10"):
        (tmp_path / each).touch()
    marks = FileMarks(tmp_path)
    assert marks.newest() == 10
    marks.open()
    assert os.listdir(tmp_path) == ["10"]


def test_jobs_and_sinks_have_markers_of_their_own(tmp_path: Path) -> None:
    for job in ("job-1", "job-2", "other-1"):
        writer(tmp_path, job=job).write([(1, "a")], 5)
        assert markers(tmp_path, job) == ["5"]
        writer(tmp_path, job=job).flush()
    assert rows_seen(tmp_path / "out") == {1: 3}


CASES = [(("p",), {}, 0), (("p",), COMPACTED, 0), (("p",), COMPACTED, 41)]


def _run(place: Path, partitions: Sequence[str], options: dict[str, str], given: Sequence[Sequence[Row]]) -> None:
    sink = writer(place, partitions, options=options)
    for at, rows in enumerate(given):
        sink.write(rows, at)
        sink.time_passes(None, 0, ended=False)
    sink.flush()


@pytest.mark.parametrize(("partitions", "options", "again"), CASES)
def test_rows_are_seen_once_wherever_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: Sequence[str], options: dict[str, str], again: int
) -> None:
    """Before any change of a file; `again`: so many changes later once more, and so on."""
    given = batches(3)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    for kill_at in range(1, 10_000):
        place = tmp_path / str(kill_at)
        looking = Onlookers(place / "out")
        done, next_kill, lives = 0, kill_at, 1

        def count(looking: Onlookers = looking) -> None:
            nonlocal done, next_kill, lives
            done += 1
            if done == next_kill:
                next_kill, lives = done + again, lives + 1
                # Without compaction a file of an attempt that was killed is replaced by the next attempt.
                if options:
                    looking.look()
                raise Killed

        with changes(monkeypatch, count):
            while True:
                try:
                    _run(place, partitions, options, given)
                    break
                except Killed:
                    continue
        assert rows_seen(place / "out") == numbers(given), kill_at
        assert markers(place) == ["2"]
        if options:
            looking.look()
            assert Counter(looking.streamed) == numbers(given)
            folder = place / "out" / "_rekindle" / "job-1"
            assert [each for each in folder.rglob("*") if each.name not in ("held", "2")] == []
        if lives == 1 or (again and kill_at == again):
            return


def test_rows_are_seen_once_whatever_fails_for_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer is asked again, as a micro-batch is that a task has failed for."""
    given = batches(3)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    for fail_at in range(1, 10_000):
        place, done = tmp_path / str(fail_at), 0

        def count(fail_at: int = fail_at) -> None:
            nonlocal done
            done += 1
            if done == fail_at:
                raise OSError("for a moment")

        sink = writer(place, ["p"])
        with changes(monkeypatch, count):
            steps: list[Callable[[], None]] = [partial(sink.write, rows, at) for at, rows in enumerate(given)]
            for step in (*steps, sink.flush):
                try:
                    step()
                except OSError:
                    step()
        assert rows_seen(place / "out") == numbers(given), fail_at
        if done < fail_at:
            return


def test_compacted_files_hold_neighbors_up_to_the_size(tmp_path: Path) -> None:
    sink = writer(tmp_path)
    for at in range(12):
        sink.write([(at, "a")], at)
    sink.flush()
    # A row has 21 bytes.
    assert list(seen(tmp_path / "out").values()) == [[10, 11], [0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert len({path.stat().st_mtime_ns // 1_000_000 for path in (tmp_path / "out").glob("c*")}) == 3


def test_a_large_file_is_shown_as_it_is_after_what_was_held(tmp_path: Path) -> None:
    sink = writer(tmp_path)
    sink.write([(1, "a")], 1)
    sink.write([(2, "a"), *((at, "a") for at in range(30, 50))], 2)
    assert {len(each) for each in seen(tmp_path / "out").values()} == {1, 11, 10}


def test_the_clock_shows_what_is_held(tmp_path: Path) -> None:
    intervals = {"sink.rolling-policy.rollover-interval": "10 min", "sink.rolling-policy.inactivity-interval": "5 min"}
    rolling = Rolling.of(writer(tmp_path, options={**HIDDEN, **intervals})._options)
    assert rolling is not None

    def held(number: int, folder: str, minute: int) -> HeldFile:
        return HeldFile(number, 0, folder, ".json", Path("x"), 1, minute * MINUTE)

    a = HeldPartition([held(1, "p=a", 0), held(3, "p=a", 4), held(4, "p=a", 8)])
    b = HeldPartition([held(2, "p=b", 1)])
    assert rolling.due_at([a, b]) == 6 * MINUTE
    assert rolling.groups([a, b], 6 * MINUTE - 1) == []
    assert rolling.groups([a, b], 6 * MINUTE) == [b.files]
    assert rolling.groups([a, b], 10 * MINUTE) == [a.files, b.files]
    assert rolling.groups([a, b], 0, lambda folder: folder == "p=a") == [a.files]
    assert rolling.due_at([]) is None


def test_the_clock_is_asked_between_micro_batches(tmp_path: Path) -> None:
    sink = writer(tmp_path, options=HIDDEN)
    sink.write([(1, "a"), (2, "a")], 1)
    now = round(time.time() * 1000)
    sink.time_passes(None, now + 29 * MINUTE, ended=False)
    assert seen(tmp_path / "out") == {}
    again = writer(tmp_path, options={**HIDDEN, "sink.rolling-policy.rollover-interval": "1 ms"})
    again.time_passes(None, now + 29 * MINUTE, ended=False)
    assert list(seen(tmp_path / "out").values()) == [[1, 2]]


@pytest.mark.parametrize("end", ["ended", "close", "flush", "of the folder", "option"])
def test_nothing_is_held_after_the_end(tmp_path: Path, end: str) -> None:
    """Of the input, of the writer, for a savepoint, of a job that was killed, or of the option."""
    sink = writer(tmp_path, ["p"], options=HIDDEN)
    for at, rows in enumerate(batches(5)):
        sink.write(rows, at)
    assert seen(tmp_path / "out") == {}
    if end == "ended":
        sink.time_passes(None, 0, ended=True)
    elif end == "of the folder":
        show_held(tmp_path / "job")
    elif end == "option":
        writer(tmp_path, ["p"], options={})
    else:
        getattr(sink, end)()
    assert rows_seen(tmp_path / "out") == numbers(batches(5))
    again = writer(tmp_path, ["p"], options=HIDDEN)
    again.write([(1, "a")], 4)
    again.close()
    again.close()
    again.flush()
    show_held(tmp_path / "job")
    assert rows_seen(tmp_path / "out") == numbers(batches(5))


def test_what_cannot_be_shown_at_the_end_is_shown_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sink = writer(tmp_path, options=HIDDEN)
    sink.write([(1, "a"), (2, "a")], 1)

    def full() -> None:
        raise OSError("the disk is full")

    with changes(monkeypatch, full):
        sink.close()
    assert "the disk is full" in caplog.text
    assert seen(tmp_path / "out") == {}
    writer(tmp_path, options=HIDDEN).flush()
    assert rows_seen(tmp_path / "out") == {1: 1, 2: 1}


COMMIT = "sink.partition-commit."


@pytest.mark.parametrize(
    ("delay", "shown"), [("0 ms", False), ("1 h", False), ("1 ms", True)], ids=["at once", "later", "due"]
)
def test_a_partition_is_committed_once_its_rows_are_seen(tmp_path: Path, delay: str, shown: bool) -> None:
    options = {**HIDDEN, f"{COMMIT}policy.kind": "success-file", f"{COMMIT}delay": delay}
    writer(tmp_path, ["p"], options=options).write([(1, "a"), (2, "b")], 1)
    sink = writer(tmp_path, ["p"], options=options)
    sink.time_passes(None, round(time.time() * 1000) + 60, ended=False)
    committed = {each.parent.name for each in (tmp_path / "out").rglob("_SUCCESS") if "_rekindle" not in each.parts}
    assert (committed, len(rows_seen(tmp_path / "out"))) == (({"p=a", "p=b"}, 2) if shown else (set(), 0))
    sink.time_passes(None, 0, ended=True)
    assert all((tmp_path / "out" / each / "_SUCCESS").exists() for each in ("p=a", "p=b"))
    assert rows_seen(tmp_path / "out") == {1: 1, 2: 1}


def test_the_watermark_shows_and_commits_one_partition(tmp_path: Path) -> None:
    options = {**HIDDEN, f"{COMMIT}policy.kind": "success-file", f"{COMMIT}trigger": "partition-time"}
    sink = writer(tmp_path, ["p"], options=options)
    sink.write([(1, "1970-01-01"), (2, "1970-01-02")], 1)
    sink.time_passes(1000, 0, ended=False)
    assert rows_seen(tmp_path / "out") == {1: 1}
    assert (tmp_path / "out" / "p=1970-01-01" / "_SUCCESS").exists()
    assert not (tmp_path / "out" / "p=1970-01-02").exists()


def test_insert_overwrite_is_seen_at_once_and_leaves_held_rows_of_others_alone(tmp_path: Path) -> None:
    stream = writer(tmp_path, job="stream-1", options=HIDDEN)
    stream.write([(1, "a")], 1)
    stream.flush()
    stream.write([(2, "a")], 2)
    writer(tmp_path, job="batch-1", overwrite=True, options=HIDDEN).write([(3, "a"), (4, "a"), (5, "a")], 0)
    assert list(seen(tmp_path / "out").values()) == [[3, 5, 4]]
    stream.flush()
    assert rows_seen(tmp_path / "out") == {2: 1, 3: 1, 4: 1, 5: 1}


def test_changes_stay_in_their_order(tmp_path: Path) -> None:
    """Files in partitions would be read in another one than that of micro-batches, so they are shown with these."""
    for partitions, hidden in (((), True), (("p",), False)):
        place = tmp_path / str(len(partitions))
        sink = writer(place, partitions, options={**HIDDEN, "format": "debezium-json"})
        for at in range(12):
            sink.write([(at, "a")], at)
        assert (seen(place / "out") == {}) is hidden
        sink.flush()
        if hidden:
            assert list(seen(place / "out").values()) == [list(range(12))]


def test_micro_batches_of_half_an_hour_are_one_file(tmp_path: Path) -> None:
    sink = writer(tmp_path, options=HIDDEN)
    for at in range(100):
        sink.write([(at, "a")], at)
    sink.close()
    files = [each for each in (tmp_path / "out").rglob("*") if each.is_file()]
    assert sorted(each.name for each in files) == ["99", "compacted-part-job-1-99-0.json"]
    assert rows_seen(tmp_path / "out") == dict.fromkeys(range(100), 1)


def test_other_readers_see_what_is_shown(tmp_path: Path) -> None:
    import pyarrow.dataset

    sink = writer(tmp_path, ["p"])
    for at, rows in enumerate(batches(10)):
        sink.write(rows, at)
        if (tmp_path / "out").exists() and rows_seen(tmp_path / "out"):
            found = pyarrow.dataset.dataset(tmp_path / "out", format="json").to_table()["id"].to_pylist()
            assert Counter(found) == rows_seen(tmp_path / "out")
    assert not [each for each in (tmp_path / "out").rglob("*.json") if "_rekindle" in each.parts]


def test_options_are_checked() -> None:
    files = {"connector": "filesystem", "format": "json", "path": "x"}
    with pytest.raises(OptionError, match=r"compaction\.file-size: 'large' is not a size"):
        validate({**files, "auto-compaction": "true", "compaction.file-size": "large"}, "sink", "t")
