"""Spark's Java process: where its output goes, whether it still runs, and what its end means."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from typing import IO, TYPE_CHECKING, Any

from execnodes.core.errors import TRY_AGAIN, JobError, PassingError, RekindleError

if TYPE_CHECKING:
    from pyspark import SparkContext

OPTIONS = "-XX:+ExitOnOutOfMemoryError -Xss4m"
"""For each Java process of ours.

Without memory some thread of Java's ends, and others may wait for it for ever; an exit code tells what it was. A stack
that is too small ends the process of a task, whatever else runs there: plans are trees, and those of large programs are
deep. Of a stack that is not used, nothing is in memory.
"""
MEMORY = (
    "Give it more: -D spark.driver.memory=4g on the command line, SET 'spark.driver.memory' before the first query in "
    "a session (Spark's default is 1g). Smaller micro-batches (execution.micro-batch.max-files) and a lower "
    "parallelism.default need less."
)
"""What helps where the Java process has too little."""
_ANEW = "Start the program again: a job goes on from its folder, where everything that was committed stays."
_OUT_OF_MEMORY = (3, 52)
"""Exit codes: Java's own where it was told to exit, and Spark's."""
_PATIENCE = 5.0
"""Seconds that a process whose connection has broken has to end."""
_SHUTS_DOWN = re.compile(r"SparkContext was shut ?down|stopped SparkContext|SparkContext has been shut ?down")
_IDLE = re.compile(
    r"\tat |WARNING: |Using Spark's default log4j|Setting default log level|To adjust logging|\S+ \S+ (?:WARN|INFO) "
)
"""Lines that tell nobody why."""
_HANDLER = "org.apache.spark.util.SparkUncaughtExceptionHandler"
"""What ends the process, with code 50, for an error of a task after which nothing is sure."""
_UNCAUGHT = "Uncaught exception in thread "
_STACK = "-D spark.driver.extraJavaOptions=-Xss16m gives each thread a larger stack."
_TAIL = 1_000_000
"""Most bytes of output that are looked at; a stack that has overflowed is printed with a thousand frames a cause."""


def output_file() -> IO[bytes]:
    """Takes what the process prints. It has no name, so nobody else can put one in its place."""
    for earlier in _outputs:
        earlier.close()
    _outputs[:] = [tempfile.TemporaryFile(prefix="rekindle-spark-")]  # noqa: SIM115  # written to while the process runs
    return _outputs[0]


def last_words(output: IO[bytes]) -> str:
    """The last line that is neither a warning nor a frame of a stack; empty if there is none."""
    lines = reversed(_tail(output).splitlines())
    return next((line.strip() for line in lines if line.strip() and not _IDLE.match(line)), "")


def tell_what_ends_it(context: SparkContext) -> None:
    """Have the process print the error that it ends for, though it logs nothing else."""
    jvm: Any = context._jvm
    log4j = jvm.org.apache.logging.log4j
    log4j.core.config.Configurator.setLevel(_HANDLER, log4j.Level.ERROR)


def uncaught(output: IO[bytes]) -> str:
    """The error that the process has printed as what it ends for, and its first cause; empty if there is none."""
    _, found, told = _tail(output).rpartition(_UNCAUGHT)
    lines = [line.strip() for line in told.splitlines()[1:] if line.strip() and not line.startswith("\tat ")]
    if not found or not lines:
        return ""
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return ", ".join([lines[0], *(cause[0].lower() + cause[1:] for cause in causes[-1:])])


def _tail(output: IO[bytes]) -> str:
    # The process writes at the position of this file, which must stay where it is.
    size = os.fstat(output.fileno()).st_size
    return os.pread(output.fileno(), _TAIL, max(0, size - _TAIL)).decode(errors="replace")


def lost(text: str) -> RekindleError | None:
    """The error for a Java process that has gone, or cannot be reached any more; None if it is there.

    `text`: what failed. A process that is about to end still answers, and says that it shuts down. One that does not
    end has given up its session: the master of its cluster has gone, or has ended the application.
    """
    code = _exit_code(0.0)
    shuts_down = _SHUTS_DOWN.search(text) is not None
    if code is None and (shuts_down or not _answers()):
        code = _exit_code(_PATIENCE)
        if code is None and shuts_down and _answers():
            return PassingError(
                "Spark has ended the session: its master cannot be reached, or has ended the application", hint=_ANEW
            )
        if code is None:
            return _try_again(JobError("the connection to Spark's Java process is broken", hint=_ANEW))
    return None if code is None else _ended(code)


def ended(code: int, why: str = "") -> JobError:
    """What the exit code of the process says, and what it has printed as the reason (`why`)."""
    if code in _OUT_OF_MEMORY:
        return JobError(f"Spark's Java process is out of memory (it ended with code {code})", hint=MEMORY)
    if code == -signal.SIGKILL:
        return _try_again(
            JobError(
                "Spark's Java process was killed (signal 9)",
                hint="If nobody did it, the system was short of memory: give the machine or container more, or lower "
                f"spark.driver.memory and parallelism.default. {_ANEW}",
            )
        )
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    return JobError(
        f"Spark's Java process has ended {how}{why and ': '}{why}",
        hint=f"{_STACK} {_ANEW}" if "StackOverflowError" in why else _ANEW,
    )


def _try_again(error: JobError) -> JobError:
    error.exit_code = TRY_AGAIN
    return error


def text_of(error: object) -> str:
    """What an exception says; those of Spark ask the Java process for their text, which may be gone."""
    try:
        return str(error)
    except Exception as second:  # noqa: BLE001  # whatever it is, the first error is the one to tell
        return f"{type(error).__name__}, and its text cannot be had ({type(second).__name__})"


def require_alive() -> None:
    """JobError if the process has ended: there is one in the life of a program."""
    code = _exit_code(0.0)
    if code is not None:
        raise _ended(code)


def _ended(code: int) -> JobError:
    return ended(code, uncaught(_outputs[0]) if _outputs else "")


def _answers() -> bool:
    """Whether a call into the process still comes back; so it is where none was ever started."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it has no stubs
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return True
    try:
        gateway.jvm.System.nanoTime()
    except (Py4JError, OSError, EOFError):
        return False
    return True


def _exit_code(patience: float) -> int | None:
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if not isinstance(process, subprocess.Popen):
        return None
    try:
        return process.wait(patience) if patience else process.poll()
    except subprocess.TimeoutExpired:
        return None


_outputs: list[IO[bytes]] = []
"""What the process that was started last prints; none where it was not started here."""
