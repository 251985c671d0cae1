"""Paths go to engines as they are, or are refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.local_paths import PathError
from rekindle.connectors.files import glob_root
from rekindle.files.paths import (
    entered,
    escaped,
    for_duckdb,
    for_duckdb_database,
    for_duckdb_to_write,
    local_path,
)
from tests.paths.names import NAMES, neighbours


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/a\0b", "it contains a NUL character"),
        ("/a\udc80b", "it is not UTF-8"),
        (f"/{'é' * 128}/b", "a name in it has 256 bytes, and 255 are the most"),
    ],
)
def test_what_no_file_can_be_called_is_refused(path: str, says: str) -> None:
    with pytest.raises(PathError, match=says) as caught:
        entered(path)
    str(caught.value).encode("utf-8")


def test_dots_behind_a_link_lead_where_they_lead(tmp_path: Path) -> None:
    (tmp_path / "deep/below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep/below")
    assert entered(tmp_path / "link/../x") == tmp_path / "deep/x"
    assert entered(tmp_path / "deep/../x") == tmp_path / "x"


def test_duckdb_reads_and_writes_that_file(tmp_path: Path) -> None:
    neighbours(tmp_path)
    for number, name in enumerate(NAMES):
        file = tmp_path / name / "f.parquet"
        file.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"k": [number], "v": [0]}), file)
    with duckdb.connect() as connection:
        for number, name in enumerate(NAMES):
            read = for_duckdb(tmp_path / name / "f.parquet")
            assert connection.execute("SELECT k FROM read_parquet($1)", [read]).fetchall() == [(number,)], name
            target = tmp_path / name / "new.csv"
            write = for_duckdb_to_write(target).replace("'", "''")
            connection.execute(f"COPY (SELECT {number} AS k) TO '{write}' (FORMAT csv)")
            assert target.read_text() == f"k\n{number}\n", name


def test_duckdb_names_files_themselves(tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        file = tmp_path / f"{name[:60]}.parquet"
        pq.write_table(pa.table({"k": [number]}), file)
    for number, name in enumerate(NAMES):
        read = for_duckdb(tmp_path / f"{name[:60]}.parquet")
        assert duckdb.execute("SELECT k FROM read_parquet($1)", [read]).fetchall() == [(number,)], name
        database = tmp_path / f"{name[:60]}.db"
        if set(name) & set("?\\"):
            with pytest.raises(PathError, match="no way to write"):
                for_duckdb_database(database)
        else:
            with duckdb.connect(for_duckdb_database(database)) as connection:
                connection.execute("CREATE TABLE t AS SELECT 1")
            assert database.is_file(), name


@given(st.text("ab[]{}*?\\,:/ ", min_size=1))
def test_an_escaped_pattern_has_no_wildcard(text: str) -> None:
    """Hadoop's: a backslash takes the next character as it is."""
    pattern, plain = escaped(text), ""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        else:
            assert pattern[at] not in "[]{}*?"
        plain += pattern[at]
        at += 1
    assert plain == text


def test_a_pattern_begins_behind_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a[b]").mkdir()
    assert glob_root(f"{tmp_path}/a[b]/x*.json") == f"{tmp_path}/a[b]"
    assert glob_root(f"{tmp_path}/a[c]/x*.json") == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/a/p.json", "/a/p.json"),
        ("/a b/p#1?.json", "/a b/p#1?.json"),
        ("ab:c/p.json", "ab:c/p.json"),
        ("//[a/p.json", "//[a/p.json"),
        ("file:///a%20b/p.json", "/a b/p.json"),
        ("file:/a%20b/p.json", "/a b/p.json"),
        ("file://localhost/p.json", "/p.json"),
    ],
)
def test_plans_lie_where_they_are_said_to(text: str, path: str) -> None:
    assert local_path(text) == Path(path)
