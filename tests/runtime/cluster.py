"""A Spark cluster of its own on the loopback interface: a master, and workers that start executors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_DEPLOY = "org.apache.spark.deploy"
_EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Cluster:
    """Whose workers run."""

    url: str
    """What `spark.master` is to be."""
    workers: tuple[int, ...]
    """Process ids."""
    restart_master: Callable[[], None] = lambda: None
    """Kill the master, and start one that knows nothing of the applications of before, at the same address."""

    def executors(self) -> list[int]:
        """Process ids of executors that run."""
        return [each for worker in self.workers for each in below(worker, _EXECUTOR)]


def below(pid: int, word: str) -> list[int]:
    """Processes that a process has started, or those have, with a word in their command line."""
    found = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    family = {pid}
    while more := {int(row[0]) for row in rows if int(row[1]) in family} - family:
        family |= more
    return [int(row[0]) for row in rows if int(row[0]) in family - {pid} and word in row[2]]


def until(check: Callable[[], object], seconds: float = 240) -> None:
    """Wait; AssertionError if it takes longer."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def cluster(folder: Path, workers: int = 2, *, hidden: Path | None = None) -> Iterator[Cluster]:
    """Each worker has one core, and a working directory in `folder`.

    `hidden`: a folder in the place of which workers, and the executors that they start, have an empty one.
    """
    started: list[subprocess.Popen[bytes]] = []
    try:
        master = _start(folder / "master", "master.Master", started, "--port", "0")
        url = _said(master, r"Starting Spark master at (spark://\S+)")
        _said(master, "elected leader")
        logs = [
            _start(
                folder / f"worker-{number}",
                "worker.Worker",
                started,
                "--cores",
                "1",
                "--memory",
                "1g",
                url,
                hidden=hidden,
            )
            for number in range(workers)
        ]
        for log in logs:
            _said(log, "Successfully registered with master")

        def restart_master() -> None:
            os.killpg(started[0].pid, signal.SIGKILL)
            started[0].wait()
            again = list[subprocess.Popen[bytes]]()
            _said(
                _start(folder / "master-2", "master.Master", again, "--port", url.rpartition(":")[2]), "elected leader"
            )
            started[0] = again[0]

        yield Cluster(url, tuple(each.pid for each in started[1:]), restart_master)
    finally:
        for each in started:
            # Executors and their Python workers are in the group of their worker.
            os.killpg(each.pid, signal.SIGKILL)
            each.wait()


HIDES = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"']
"""Runs a program that has an empty folder in the place of one; only root can do that."""


def _start(
    place: Path, kind: str, started: list[subprocess.Popen[bytes]], *arguments: str, hidden: Path | None = None
) -> Path:
    import pyspark

    home = Path(pyspark.__file__).parent
    place.mkdir(parents=True)
    log = place / "log"
    given = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(place / "work"),
        "SPARK_LOCAL_DIRS": str(place / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
    command = [
        *([*HIDES, str(hidden)] if hidden is not None else []),
        str(home / "bin/spark-class"),
        f"{_DEPLOY}.{kind}",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *arguments], cwd=place, env=given, stdout=output, stderr=output, start_new_session=True
        )
    started.append(process)
    return log


def _said(log: Path, pattern: str) -> str:
    """What a process has written about itself."""
    until(lambda: re.search(pattern, log.read_text(errors="replace")), 120)
    found = re.search(pattern, log.read_text(errors="replace"))
    assert found is not None
    return found[found.re.groups]
