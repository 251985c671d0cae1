"""What a job asks of a cluster, without one: executors that share its folders, and executors at all."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import TRY_AGAIN, JobError, PassingError
from rekindle.pipeline.failures import explained, passes
from rekindle.runtime.cluster_guard import ClusterGuard
from rekindle.runtime.progress import Activity, activity_of, rate_of
from rekindle.runtime.shared_folder import Answer, Probe, SharedFolders, user
from rekindle.runtime.watchdog import Watchdog
from rekindle.spark import executors, java
from rekindle.spark.executors import require_master, require_python


class Local:
    """As much of a session as is asked for where all of Spark is one process."""

    class sparkContext:  # noqa: N801  # Spark's name
        master = "local[2,4]"


def folders(job: Path, *others: Path) -> SharedFolders:
    spark: Any = Local()
    return SharedFolders(spark, job, others)


def run(probe: Probe, *hosts: str) -> list[Answer]:
    return [(host, 7, *probe.answer(each)[2:]) for host in hosts for each in probe.folders]


def test_one_process_is_asked_nothing(tmp_path: Path) -> None:
    folders(tmp_path / "none").require()
    guard = ClusterGuard(1, lambda: True, lambda: False, owns_session=True)
    spark: Any = Local()
    assert guard.take(spark, "tag") == ""
    assert guard.waits_since is None
    guard.require_folders(spark, tmp_path / "none", [])
    program: Any = object()
    assert guard.checked(program) is program
    assert not (tmp_path / "none").exists()


def test_executors_that_share_the_folders_are_asked_once(tmp_path: Path) -> None:
    job, sink = tmp_path / "job", tmp_path / "sink"
    asked: list[Probe] = []
    names = ["driver", "a", "b"]
    hosts = iter(["a", "a", "b", "c"])

    def tasks(probe: Probe) -> Sequence[Answer]:
        asked.append(probe)
        assert [Path(each).parent for each in probe.folders] == [job, sink]
        return run(probe, next(hosts))

    shared = folders(job, sink, sink)
    shared.ask(lambda: frozenset(names), tasks)
    assert len(asked) == 3, "until one has run on each executor"
    shared.ask(lambda: frozenset(names), tasks)
    names.remove("a")
    shared.ask(lambda: frozenset(names), tasks)
    assert len(asked) == 3
    names.append("c")
    shared.ask(lambda: frozenset(["driver", "c"]), tasks)
    assert len(asked) == 4, "one that is new"
    assert [*job.iterdir(), *sink.iterdir()] == []


def answer(probe: Probe, **changes: str) -> Sequence[Answer]:
    """Of an executor on another host."""
    _, process, name, file, problem = probe.answer(probe.folders[0])
    return [("there", process, changes.get("user", name), changes.get("file", file), changes.get("problem", problem))]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"problem": "a file in it cannot be read: No such file or directory"}, "cannot be read: No such file"),
        ({"file": "other"}, "a file that the executor writes is not there for the driver"),
    ],
)
def test_a_folder_that_is_not_shared_is_named(tmp_path: Path, changes: dict[str, str], says: str) -> None:
    with pytest.raises(JobError, match=says) as caught:
        folders(tmp_path).ask(
            lambda: frozenset(["driver", "x"]), lambda probe: answer(probe, user="nobody (65534)", **changes)
        )
    error = caught.value
    assert "the job folder is not shared with the executor on host there, user nobody (65534)" in error.message
    assert error.where == str(tmp_path)
    assert "same path" in (error.hint or "")
    assert f"host {socket.gethostname()}, user {user()}" in (error.hint or "")
    assert error.exit_code == 1, "it does not pass"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_a_sink_is_named(tmp_path: Path) -> None:
    def tasks(probe: Probe) -> Sequence[Answer]:
        return [*run(probe, "a")[:1], ("a", 7, "x", "y", "a file in it cannot be written: Permission denied")]

    with pytest.raises(JobError, match=r"folder of a sink .* host a, user x: .* Permission denied") as caught:
        folders(tmp_path / "job", tmp_path / "sink").ask(lambda: frozenset(["driver", "a"]), tasks)
    assert caught.value.where == str(tmp_path / "sink")


def test_an_executor_looks_for_a_while_and_says_what_it_sees(tmp_path: Path) -> None:
    probe = Probe((str(tmp_path / "none"),), "token", 0.0)
    host, process, name, _, problem = probe.answer(probe.folders[0])
    assert (host, process, name) == (socket.gethostname(), os.getppid(), user())
    assert problem == "a file in it cannot be read: No such file or directory"
    (tmp_path / "none").mkdir()
    later = replace(probe, patience=5.0)
    threading.Timer(0.2, (tmp_path / "none" / "driver").write_text, ["token"]).start()
    *_, file, problem = later.answer(probe.folders[0])
    assert problem == ""
    assert (tmp_path / "none" / file).read_text() == "token"
    assert stat.S_IMODE((tmp_path / "none" / file).stat().st_mode) == 0o600, "as files of state are"
    (tmp_path / "none" / "driver").write_text("of another")
    assert probe.answer(probe.folders[0])[-1] == "another file of that name is there"


class Cluster:
    """Executors and tasks, and a clock."""

    def __init__(self, patience: float = 300.0) -> None:
        self.now, self.executors, self.tasks = 0.0, 2, 1
        self.busy, self.stopping = True, False
        self.ends: list[float] = []
        self.dog = Watchdog(
            lambda: (self.executors, self.tasks), self.cancel, patience,
            is_busy=lambda: self.busy, is_stopping=lambda: self.stopping, clock=lambda: self.now,
        )  # fmt: skip

    def cancel(self) -> None:
        self.ends.append(self.now)

    def after(self, seconds: float) -> float | None:
        self.now += seconds
        self.dog.check()
        return self.dog.waits_since


def test_a_micro_batch_without_executors_is_ended_after_the_timeout() -> None:
    cluster = Cluster()
    assert cluster.after(1000) is None
    cluster.executors = cluster.tasks = 0
    assert [cluster.after(1), cluster.after(299)] == [1001, 1001]
    assert cluster.ends == []
    cluster.after(1)
    assert cluster.ends == [1301]
    cluster.after(1)
    assert cluster.ends == [1301, 1302], "what is tried once more is ended, too"
    error = cluster.dog.error
    assert isinstance(error, PassingError)
    assert "no executor for 300 s" in error.message
    assert "slot.request.timeout" in (error.hint or "")
    assert passes(error)
    assert error.exit_code == TRY_AGAIN


@pytest.mark.parametrize(("executors", "tasks", "busy"), [(1, 0, True), (0, 1, True), (0, 0, False)])
def test_time_without_executors_counts_from_the_last_one_on(executors: int, tasks: int, busy: bool) -> None:
    cluster = Cluster()
    cluster.executors = cluster.tasks = 0
    cluster.after(200)
    cluster.executors, cluster.tasks, cluster.busy = executors, tasks, busy
    assert cluster.after(200) is None
    cluster.executors, cluster.tasks, cluster.busy = 0, 0, True
    cluster.after(200)
    cluster.after(299)
    assert cluster.ends == []


def test_a_stop_waits_for_executors_for_seconds_only() -> None:
    cluster = Cluster()
    cluster.executors = cluster.tasks = 0
    cluster.after(0)
    cluster.stopping = True
    cluster.after(9)
    assert cluster.ends == []
    cluster.after(2)
    assert len(cluster.ends) == 1


def test_without_a_timeout_it_waits_for_ever() -> None:
    cluster = Cluster(0)
    cluster.executors = cluster.tasks = 0
    cluster.after(0)
    assert cluster.after(10**9) == 0
    assert cluster.ends == []


def test_a_master_that_is_not_there_is_named_in_seconds() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(PassingError, match="Spark's master cannot be reached: Connection refused") as caught:
        require_master(f"spark://127.0.0.1:{port}")
    assert caught.value.exit_code == TRY_AGAIN
    assert caught.value.where == f"spark://127.0.0.1:{port}"
    with pytest.raises(PassingError):
        require_master("spark://127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        require_master(f"spark://127.0.0.1:{port},127.0.0.1:{server.getsockname()[1]}")
    for others in ("local[2]", "local-cluster[2,1,1024]", "yarn", "k8s://https://h:1"):
        require_master(others)


def test_a_python_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/nowhere/python")
    with pytest.raises(JobError, match="/nowhere/python") as caught:
        require_python("local[2,4]")
    assert caught.value.where == "environment variable PYSPARK_PYTHON"
    require_python("spark://h:1")
    said = (
        "org.apache.spark.SparkException: Job aborted\n\tat x\nCaused by: java.io.IOException: Cannot run program "
        '"/nowhere/python3.11": error=2, No such file or directory\n\tat java.base/y\n'
        "Caused by: java.io.IOException: error=2, No such file or directory\n\tat z\n"
    )
    error = explained(RuntimeError(said))
    assert error.message == "Python for Spark's tasks cannot be run: /nowhere/python3.11: No such file or directory"
    assert "PYSPARK_PYTHON" in (error.hint or "")


def test_a_session_that_spark_has_ended_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_exit_code", lambda patience: None)
    monkeypatch.setattr(java, "_answers", lambda: True)
    for text in (
        "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
        "Job 3 cancelled because SparkContext was shut down",
    ):
        error = explained(RuntimeError(text))
        assert isinstance(error, PassingError)
        assert "Spark has ended the session" in error.message
        assert passes(RuntimeError(text))
    monkeypatch.setattr(java, "_answers", lambda: False)
    broken = explained(RuntimeError("anything"))
    assert broken.message == "the connection to Spark's Java process is broken"
    assert broken.exit_code == TRY_AGAIN


@pytest.mark.parametrize(("text", "code"), [("Python worker exited unexpectedly (crashed)", 75), ("a bad row", 1)])
def test_an_exit_code_says_whether_to_try_again(text: str, code: int) -> None:
    assert explained(RuntimeError(text)).exit_code == code


def test_executors_are_those_beside_the_driver() -> None:
    class Info:
        def __init__(self, port: int, tasks: int) -> None:
            self._port, self._tasks = port, tasks

        def host(self) -> str:
            return "h"

        def port(self) -> int:
            return self._port

        def numRunningTasks(self) -> int:  # noqa: N802  # Spark's name
            return self._tasks

    class Tracker:
        def getExecutorInfos(self) -> list[Info]:  # noqa: N802  # Spark's name
            return [Info(1, 0), Info(2, 1), Info(3, 2)]

    found = executors.Executors.__new__(executors.Executors)
    found._tracker = Tracker()
    assert found.running() == (2, 3)
    assert found.names() == {"h:1", "h:2", "h:3"}


def test_the_rate_of_a_finished_input_is_not_shown_for_ever() -> None:
    assert rate_of(200, 100, 50_000, 0.0, 55_000) == 2000
    assert rate_of(200, 100, 50_000, 0.0, 61_000) == 0
    assert rate_of(200, 100, 50_000, 60.0, 160_000) == 2000, "the next one is not due yet"
    assert rate_of(200, 20_000, 50_000, 0.0, 80_000) == 10, "nor is it after one that took as long"
    assert rate_of(200, 100, None, 0.0, 0) == 0


def test_what_a_job_waits_for_comes_before_what_it_does() -> None:
    assert activity_of(5, 4, 3, 2, 1) == Activity("restart", 5, 2)
    assert activity_of(None, 4, 3, 2, 1) == Activity("executors", 4, 2)
    assert activity_of(None, None, 3, 2, 1) == Activity("micro-batch", 3, 2)
    assert activity_of(None, None, None, 2, 1) == Activity("input", 2, 2)
    assert activity_of(None, None, None, None, 1) == Activity("input", 1, None)
