"""A Kafka broker on loopback, in one process of Java; tests are skipped where it cannot be had."""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_OPTIONS = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
num.partitions=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=2097152
"""


def jars(name: str, folder: Path) -> list[Path]:
    """Those of `broker.pom.xml` or `spark.pom.xml`, in a folder; skips the test where Maven cannot bring them."""
    for program in ("mvn", "java"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    pom = shutil.copy(HERE / f"{name}.pom.xml", folder / f"{name}.pom.xml")
    target = folder / name
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "ERROR" in line] or ["mvn failed"]
        pytest.skip(f"Maven does not bring Kafka's jars: {lines[0]}")
    return sorted(target.glob("*.jar"))


@contextmanager
def broker(libraries: list[Path], folder: Path) -> Iterator[str]:
    """Start a broker that makes topics of two partitions as they are written; gives host:port."""
    folder.mkdir()
    port, controller = _free_port(), _free_port()
    properties = folder / "server.properties"
    properties.write_text(_PROPERTIES.format(port=port, controller=controller, folder=folder))
    java = ["java", *_OPTIONS, "-cp", ":".join(map(str, libraries))]
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    storage = [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    subprocess.run(storage, check=True, capture_output=True, timeout=120)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
        try:
            _wait_for(port, process, folder / "log")
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(60)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.skip(f"the broker does not start: {log.read_text(errors='replace')[-300:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.skip("the broker does not listen after 120 s")
