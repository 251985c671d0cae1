"""Troubles outside a job: which may pass, and which do not."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from execnodes.core.errors import ConnectorError, JobError, PassingError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.duckdb_sql import connect
from rekindle.connectors.spark import _refused
from rekindle.engine.program import STEPS
from rekindle.pipeline.failures import describe_sink_failure, passes
from rekindle.spark.passing import may_pass

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

HOLD = (
    "import duckdb, sys\n"
    "with duckdb.connect(sys.argv[1]) as database:\n"
    "    print('open', flush=True)\n"
    "    sys.stdin.readline()\n"
)


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A database that another process has open until its standard input ends."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        try:
            yield process
        finally:
            release(process)


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


@pytest.mark.parametrize(
    ("number", "passing"),
    [
        (errno.EBUSY, True),
        (errno.EAGAIN, True),
        (errno.ESTALE, True),
        (errno.EIO, True),
        (errno.ETIMEDOUT, True),
        (errno.EMFILE, True),
        (errno.ECONNRESET, True),
        (errno.ENOSPC, False),
        (errno.EDQUOT, False),
        (errno.EACCES, False),
        (errno.EPERM, False),
        (errno.EROFS, False),
        (errno.ENOENT, False),
        (errno.ENOTDIR, False),
        (errno.EISDIR, False),
        (errno.ENAMETOOLONG, False),
    ],
)
def test_files(number: int, passing: bool) -> None:
    error = describe_sink_failure(OSError(number, "the text", "/some/file"), "t")
    assert isinstance(error, PassingError | JobError)
    assert isinstance(error, PassingError) == passes(error) == passing
    assert "/some/file" in (error.where or "")


def test_errors_that_are_not_about_files_stay_what_they_are() -> None:
    assert describe_sink_failure(OSError("the machine went down"), "t") is None
    assert describe_sink_failure(BrokenPipeError(errno.EPIPE, "Broken pipe"), "t") is None


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("java.net.ConnectException: Connection refused", True),
        ("Caused by: java.net.UnknownHostException: db", True),
        ("java.sql.SQLTransientConnectionException: pool is empty", True),
        ("java.sql.SQLRecoverableException: IO Error", True),
        ("java.sql.SQLTimeoutException: timeout", True),
        ("java.sql.SQLTransactionRollbackException: rolled back", True),
        ("com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure", True),
        ("org.postgresql.util.PSQLException: ERROR: deadlock detected", True),
        ("org.sqlite.SQLiteException: [SQLITE_BUSY] The database file is locked", True),
        ("org.apache.kafka.common.errors.TimeoutException: Topic t not present after 60000 ms", True),
        ("java.nio.file.FileSystemException: /mnt/a: Stale file handle", True),
        ("java.io.IOException: Input/output error", True),
        ("java.io.FileNotFoundException: /a (Too many open files)", True),
        ("OSError: [Errno 16] Device or resource busy: '/mnt'", True),
        ("java.sql.SQLSyntaxErrorException: Table 'db.t' doesn't exist", False),
        ('org.postgresql.util.PSQLException: ERROR: relation "t" does not exist', False),
        ("java.sql.SQLException: No suitable driver", False),
        ("java.sql.SQLInvalidAuthorizationSpecException: Access denied", False),
        ("java.sql.SQLIntegrityConstraintViolationException: Duplicate entry", False),
        ("org.apache.kafka.common.errors.TopicAuthorizationException: not authorized", False),
        ("java.nio.file.AccessDeniedException: /a", False),
        ("java.io.IOException: No space left on device", False),
        ("java.io.FileNotFoundException: /a (Permission denied)", False),
        ("java.nio.file.NoSuchFileException: /a", False),
        ("ValueError: a row says: Device or resource busy", False),
    ],
)
def test_texts(text: str, passing: bool) -> None:
    assert may_pass(text) == passing
    assert isinstance(_refused(RuntimeError(text), "jdbc", "t"), PassingError) == passing


def test_a_database_that_is_open_elsewhere_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with held(path) as process:
        begin = time.monotonic()
        with (
            pytest.raises(PassingError, match="lock") as caught,
            connect(str(path), "t", read_only=False, patience=0.5),
        ):
            pass
        assert 0.5 <= time.monotonic() - begin < 5
        assert "sink.busy-timeout" in (caught.value.hint or "")
        threading.Timer(0.5, release, [process]).start()
        with connect(str(path), "t", read_only=False, patience=30) as database:
            assert database.execute("SELECT 1").fetchone() == (1,)


def test_a_connection_of_this_process_that_only_reads_passes(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    duckdb.connect(str(path)).close()
    with (
        duckdb.connect(str(path), read_only=True),
        pytest.raises(PassingError, match="different configuration"),
        connect(str(path), "t", read_only=False),
    ):
        pass


def test_conflicting_transactions_pass(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with duckdb.connect(path) as other:
        other.execute("CREATE TABLE t (a INT)")
        other.execute("INSERT INTO t VALUES (1)")
        other.execute("BEGIN")
        other.execute("UPDATE t SET a = 2")
        with pytest.raises(PassingError, match=r"(?i)conflict"), connect(path, "t", read_only=False) as database:
            database.execute("UPDATE t SET a = 3")


def _no_folder(folder: Path) -> tuple[Path, str]:
    return folder / "nowhere" / "a.duckdb", "SELECT 1"


def _no_database(folder: Path) -> tuple[Path, str]:
    (folder / "a.duckdb").write_text("this is a text, and no database" * 1000)
    return folder / "a.duckdb", "SELECT 1"


def _no_table(folder: Path) -> tuple[Path, str]:
    return folder / "a.duckdb", "SELECT * FROM missing"


def _no_column(folder: Path) -> tuple[Path, str]:
    return folder / "a.duckdb", "SELECT b FROM (SELECT 1 AS a)"


@pytest.mark.parametrize("trouble", [_no_folder, _no_database, _no_table, _no_column])
def test_other_troubles_of_duckdb_do_not_pass(trouble: object, tmp_path: Path) -> None:
    assert callable(trouble)
    path, sql = trouble(tmp_path)
    begin = time.monotonic()
    with pytest.raises(ConnectorError) as caught, connect(str(path), "t", read_only=False, patience=30) as database:
        database.execute(sql)
    assert not isinstance(caught.value, PassingError)
    assert time.monotonic() - begin < 5


def environment(spark: SparkSession, folder: Path, **more: str) -> TableEnvironment:
    (folder / "in").mkdir()
    for number in range(3):
        (folder / "in" / f"{number}.json").write_text(f'{{"a": {number}}}\n')
    settings = {"execution.job-dir": str(folder / "job"), "execution.micro-batch.max-files": "1", **more}
    made = TableEnvironment.create(settings, spark=spark)
    made.execute_script(
        f"CREATE TABLE s (a INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json');"
        f"CREATE TABLE t (a INT) WITH ('connector' = 'duckdb', 'path' = '{folder}/a.duckdb', 'table' = 't',"
        "  'sink.busy-timeout' = '200 ms');"
    )
    return made


@pytest.mark.spark
@pytest.mark.parametrize("restarts", [True, False])
def test_a_job_starts_again_when_its_sink_is_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restarts: bool
) -> None:
    from rekindle.connectors.duckdb_write import DuckdbWriter

    strategy = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "3"}
    strategy["restart-strategy.fixed-delay.delay"] = "500 ms"
    made = environment(spark, tmp_path, **(strategy if restarts else {"restart-strategy.type": "none"}))
    write, holder = DuckdbWriter.write_rows, held(tmp_path / "a.duckdb")

    def read_meanwhile(writer: DuckdbWriter, rows: pa.Table, number: int) -> None:
        if number // STEPS == 1 and not opened:
            opened.append(holder.__enter__())
            threading.Timer(1.0, release, opened).start()
        write(writer, rows, number)

    opened: list[subprocess.Popen[str]] = []
    monkeypatch.setattr(DuckdbWriter, "write_rows", read_meanwhile)
    job = made.execute_sql("INSERT INTO t SELECT a FROM s").job
    assert job is not None
    try:
        if restarts:
            job.wait()
            assert job.status.restarts >= 1
        else:
            with pytest.raises(PassingError, match="lock"):
                job.wait()
    finally:
        holder.__exit__(None, None, None)
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        rows = database.execute("SELECT a FROM t ORDER BY a").fetchall()
    assert rows == ([(0,), (1,), (2,)] if restarts else rows[:2])
