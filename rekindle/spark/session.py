"""The Spark session Rekindle runs in, with the settings its state and its meaning of SQL rest on."""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import JobError, OptionError
from rekindle.own_packages import LAUNCHER
from rekindle.spark.class_archive import class_archive, usable, using
from rekindle.spark.executors import ONE_PROCESS, require_master, require_python
from rekindle.spark.java import (
    MEMORY,
    OPTIONS,
    last_words,
    lost,
    output_file,
    require_alive,
    tell_what_ends_it,
    text_of,
)

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

STARTS = logging.getLogger("rekindle.spark.starts")
"""Told at level INFO when Spark is started by a caller who waits for it."""
_DEFAULTS = "spark.driver.defaultJavaOptions"
_PACKAGE = "org.apache.spark.sql.execution.streaming"
_MEANING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    # Flink's integers wrap and its casts have rules of their own; both are written into the expressions.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    # What a user writes is never replaced by the value of a variable; in a quoted name nothing could stop it.
    "spark.sql.variable.substitute": "false",
    # Of equal keys in a map the last one counts, as in Flink.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # As in Flink, a key that a JSON object has twice has its last value.
    "spark.sql.variant.allowDuplicateKeys": "true",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype": "true",
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # Offsets by the names of streams; PySpark 4.2 would write them by their order, though they have names.
    "spark.sql.streaming.offsetLog.formatVersion": "2",
}
"""What the meaning of plans and of what is stored rests on: nobody sets it otherwise."""
SESSION_SETTINGS: Mapping[str, str] = {
    **_MEANING,
    # The default forks a process for every checkpoint file on local disks.
    "spark.sql.streaming.checkpointFileManagerClass": f"{_PACKAGE}.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    # The JVM does not compile larger methods; wide projections then run interpreted, four times slower.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # It would refuse numbers of rows in a stream that is fed, which only have to order a micro-batch.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # A job that is killed while Spark notes its first batch leaves a file there; what was read is in the job's log.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.adaptive.enabled": "false",
    # What is known of columns would be written for all their names, and of a hash of many columns for all combinations.
    "spark.sql.constraintPropagation.enabled": "false",
    # What a micro-batch keeps is read a moment later, and takes half the time to keep as it is.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}
"""Set on every session that runs a job."""
_START_SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.executorEnv.REKINDLE_WORKER_PYTHON": sys.executable,
    "spark.executorEnv.REKINDLE_WORKER_LAUNCHER": LAUNCHER,
    _DEFAULTS: OPTIONS,
    "spark.executor.defaultJavaOptions": OPTIONS,
    "spark.sql.ui.retainedExecutions": "50",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    # The parser of Spark remembers what it has met, without end; this is in percent of the memory.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushRatio": "10",
}
"""Only for a session of our own making."""
_LOCAL_SETTINGS: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",
}
"""Where all of Spark is one process, nobody else has to reach it; Spark makes the secret."""
SMALL_PROGRAMS: Mapping[str, str] = {
    # Java's second compiler would take more time than it saves. Without it Java keeps 48 MB of code: too few. On few
    # cores the parallel collector takes less time than the default one.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseParallelGC",
    # A table that is broadcast takes one page at least, which else are 64 MB.
    "spark.buffer.pageSize": "2m",
}
"""For sessions that run many small programs."""
_TOO_SMALL = re.compile(r"increase heap size|Too small maximum heap")
"""What Spark, or Java, says of a heap that it does not even start with."""
_STOPS = 20.0
"""Seconds that a session has to end well."""
_WORKER_PYTHON = Path(__file__).with_name("worker_python")
"""Python without Spark's archives on its path: see there."""


def refuse_other_meaning(settings: Mapping[str, str]) -> None:
    """OptionError for a setting under which plans would mean something else."""
    for key, value in settings.items():
        fixed = _MEANING.get(key)
        if fixed is not None and value.strip().lower() != fixed.lower():
            raise OptionError(
                f"{key} is {fixed!r} in every job, not {value!r}: what plans mean rests on it",
                hint="Leave it out. For the time zone of a program there is table.local-time-zone.",
            )


def session(
    parallelism: int = 2, settings: Mapping[str, str] | None = None, *, is_warm_up: bool = False
) -> SparkSession:
    """The active session, or a new local one; PySpark's workers get this interpreter.

    `is_warm_up`: nobody has asked for it yet; a later call with settings that it cannot take on starts it again.
    """
    # PySpark warns about pandas 3 at every import; the range that is pinned is the range that is tested.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ["PYTHONWARNINGS"] = "ignore::FutureWarning"
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    if "utf" not in locale.lower():
        # Java has file names in the letters of the locale that it is started with.
        os.environ["LC_ALL"] = "C.UTF-8"
    require_alive()
    # A task is tried four times: a worker that was killed, or too slow, says nothing about the job.
    wanted = {"spark.master": f"local[{parallelism},4]", **(settings or {})}
    with _starting:
        active = _active()
        if active is not None:
            application = str(active.sparkContext.applicationId)
            if application not in _warmed_up or (is_warm_up or _can_take_on(active, wanted)):
                _warmed_up.discard(application)
                return active
            _end(active)
        require_master(wanted["spark.master"])
        require_python(wanted["spark.master"])
        guarded = _LOCAL_SETTINGS if ONE_PROCESS.fullmatch(wanted["spark.master"]) else {}
        started = _start({**_START_SETTINGS, **SESSION_SETTINGS, **guarded, **wanted})
        if is_warm_up:
            _warmed_up.add(str(started.sparkContext.applicationId))
        return started


def renew(spark: SparkSession) -> None:
    """End a session of our own making whose executors are lost, with its Java process: the next one is another.

    Nothing happens if another job has done it already, or if the session is a caller's.
    """
    from pyspark import SparkContext

    with _starting:
        context = spark.sparkContext
        if context is SparkContext._active_spark_context and context in _own:
            _end(spark)


def is_ended(spark: SparkSession) -> bool:
    """Whether Spark has ended the session, or its Java process does not answer."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it has no stubs

    jsc: Any = spark.sparkContext._jsc
    try:
        return jsc is None or bool(jsc.sc().isStopped())
    except (Py4JError, OSError):
        return True


def _active() -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # Spark's active session is that of a thread; the one that started it may be another.
    return None if SparkContext._active_spark_context is None else SparkSession.active()


def _can_take_on(spark: SparkSession, wanted: Mapping[str, str]) -> bool:
    """Whether a session that runs can get these settings, or has them."""
    fixed = (name for name in wanted if not spark.conf.isModifiable(name))
    return all(spark.conf.get(name, None) == wanted[name] for name in fixed)


def _end(spark: SparkSession) -> None:
    """End a session that no query uses any more, and its Java process, which has settings of its own."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    # A master that has gone is waited for, and a Java process that has gone raises.
    stopping = threading.Thread(target=_stop, args=(spark,), daemon=True)
    stopping.start()
    stopping.join(_STOPS)
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    process = getattr(gateway, "proc", None)
    if gateway is not None and isinstance(process, subprocess.Popen):
        gateway.shutdown()
        process.kill()
        process.wait()


def _stop(spark: SparkSession) -> None:
    with suppress(Exception):
        spark.stop()


def _start(settings: Mapping[str, str]) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf().setAppName("rekindle").setAll(list(settings.items()))
    archive = usable(class_archive(os.environ))
    if archive is not None:
        conf.set(_DEFAULTS, f"{conf.get(_DEFAULTS, '')} {using(archive)}")
    if not conf.contains("spark.local.dir") and ONE_PROCESS.fullmatch(conf.get("spark.master", "")):
        # Spark's own folders can be read by everybody; this one cannot.
        private = tempfile.mkdtemp(prefix="rekindle-spark-")
        atexit.register(shutil.rmtree, private, ignore_errors=True)
        conf.set("spark.local.dir", private).set("spark.python.unix.domain.socket.dir", private)
    debug = bool(os.environ.get("REKINDLE_DEBUG"))
    if not debug:
        _quieten()
    if threading.current_thread() is threading.main_thread():
        STARTS.info("starting Spark (about 20 s): its Java process, then a session; later queries find it running")
    handler = signal.getsignal(signal.SIGINT)
    # What the JVM and its Python workers print is for debugging; failures reach the user as errors of ours.
    output = output_file()
    # A session of its own: signals to the process group are for this process, which stops its jobs. The JVM ends
    # with this process, since its standard input does.
    given = {"start_new_session": True} | ({} if debug else {"stdout": output, "stderr": output})
    launch: Callable[..., Any] = launch_gateway
    try:
        context = SparkContext(conf=conf, gateway=launch(conf, popen_kwargs=given))
    except (PySparkException, Py4JError, OSError) as error:
        said = last_words(output)
        hint = MEMORY if _TOO_SMALL.search(said) else "`rekindle doctor` tells what is missing."
        if archive is not None:
            # Java does not start from one that is damaged; it is made anew by whoever wants it.
            archive.unlink(missing_ok=True)
            hint += f" Java's classes came from {archive}, which is deleted, since it may be damaged: start again."
        raise lost(text_of(error)) or JobError(
            f"Spark could not be started{f': {said}' if said else ''}",
            hint=hint,
        ) from error
    if handler is not None and threading.current_thread() is threading.main_thread():
        # Spark's own handler kills the tasks of every job; jobs are stopped between two micro-batches.
        signal.signal(signal.SIGINT, handler)
    if not debug:
        # It prints a traceback when the JVM's end of the connection breaks; the job tells of that.
        setattr(context._accumulatorServer, "handle_error", lambda request, address: None)  # noqa: B010
    if _workers_find_pyspark():
        context.pythonExec = str(_WORKER_PYTHON)
    _started[str(context.applicationId)] = settings
    _own[:] = [context]
    context.setLogLevel("WARN" if debug else "OFF")
    if not debug:
        tell_what_ends_it(context)
    return SparkSession(context)


def _quieten() -> None:
    """No tracebacks of py4j in the log: what matters of them reaches the user as errors of ours."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # A part of it logs past its own logger.
    logging.getLogger().addFilter(_is_of_others)


def _is_of_others(entry: logging.LogRecord) -> bool:
    return Path(entry.pathname).parent.name != "py4j"


def _workers_find_pyspark() -> bool:
    """Whether the workers' interpreter has the running Spark's own PySpark, so that they need no archive of it."""
    import pyspark

    home = os.environ.get("SPARK_HOME")
    ours = home is None or os.path.realpath(home) == os.path.realpath(os.path.dirname(pyspark.__file__))
    return ours and os.environ["PYSPARK_PYTHON"] == sys.executable and os.access(_WORKER_PYTHON, os.X_OK)


def prepare(
    spark: SparkSession, parallelism: int, settings: Mapping[str, str], functions: Mapping[str, object] | None = None
) -> SparkSession:
    """A session (same Spark context) with Rekindle's settings, for jobs that want the same.

    `functions`: names of Spark functions to what they are; a session where one of them is something else is not shared.
    Each session has Python workers of its own, and a worker needs a second to begin; so jobs share sessions.
    """
    wanted = {**SESSION_SETTINGS, "spark.sql.shuffle.partitions": str(parallelism), **settings}
    key = (str(spark.sparkContext.applicationId), tuple(sorted(wanted.items())))
    called = functions or {}
    with _lock:
        sessions = _prepared.setdefault(key, [])
        for each in sessions:
            if all(each.functions.get(name, given) == given for name, given in called.items()):
                each.functions.update(called)
                return each.spark
        own = spark.newSession()
        for name, value in wanted.items():
            _set(own, name, value)
        sessions.append(_Prepared(own, dict(called)))
        return own


def change_settings(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Set what only says how plans run, in a session that jobs share (see `generated_code`)."""
    for key in settings:
        spark.conf.set(key, settings[key])


@contextmanager
def active(spark: SparkSession) -> Iterator[None]:
    """Make it the session of this thread.

    Spark settles some things late, by the settings of the thread that asks: of a frame that is kept it would then not
    know that it has it.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    before = SparkSession.getActiveSession()
    make_active(spark)
    try:
        yield
    finally:
        # A session that was lost meanwhile is nobody's any more.
        if before is not None and before.sparkContext is SparkContext._active_spark_context:
            make_active(before)


def make_active(spark: SparkSession) -> None:
    """The same for the rest of the thread's life."""
    from pyspark.sql import SparkSession

    # As `createDataFrame` begins; a frame that nobody reads would take 40 ms.
    SparkSession._activeSession = spark
    spark._jsparkSession.setActiveSession(spark._jsparkSession)


@dataclass(frozen=True)
class _Prepared:
    """A session that jobs share."""

    spark: SparkSession
    functions: dict[str, object]
    """Names of functions of the user to what they are there."""


def _set(spark: SparkSession, name: str, value: str) -> None:
    from pyspark.errors import AnalysisException

    # Of a setting that is fixed, Spark may show more than it was given.
    given = _started.get(str(spark.sparkContext.applicationId), {})
    if value in (spark.conf.get(name, None), given.get(name)):
        return
    try:
        spark.conf.set(name, value)
    except AnalysisException as error:
        raise OptionError(
            f"{name} is fixed once Spark runs; it is {spark.conf.get(name, None)!r}, not {value!r}",
            hint="Start the program with it (-D on the command line), or set it in the session that you give.",
        ) from error


_started: dict[str, Mapping[str, str]] = {}
"""Settings of sessions of our own making, by Spark's name of the application."""
_own: list[SparkContext] = []
"""The context of our own making that was started last."""
_prepared: dict[tuple[str, tuple[tuple[str, str], ...]], list[_Prepared]] = {}
_lock = Lock()
_starting = RLock()
"""Held while a session is started, so that there is one."""
_warmed_up: set[str] = set()
"""Sessions that no query has asked for yet, by Spark's name of the application."""
