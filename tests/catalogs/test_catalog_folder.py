"""The catalog on disk: what it holds survives the session, whatever its name; nobody's object is lost."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execnodes.core.errors import CatalogError
from execnodes.core.options import Configuration
from planner import ddl
from planner.catalog.catalogs import Catalog, View
from planner.catalog.store import Change, Database, MemoryStore
from planner.parse import parse
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.catalog_folder import CatalogFolder, file_name, open_catalog_folder

TABLE = """
CREATE TABLE t (
  id INT COMMENT 'the key',
  m MAP<STRING, ROW<a INT>>,
  at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  ts AS CAST(at AS TIMESTAMP(3)),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'c' PARTITIONED BY (id) WITH ('connector' = 'x', 'password' = '${env:P}');
CREATE VIEW v (k) COMMENT 'd' AS SELECT id FROM t;
"""


def session(path: Path, text: str = "") -> Catalog:
    """A new session with the catalog `c` current, and a script applied."""
    catalog = Catalog({"file": open_catalog_folder})
    for statement in parse(f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{path}'); USE CATALOG c; {text}"):
        ddl.execute(statement, catalog, Configuration())
    return catalog


def test_objects_survive_the_session(tmp_path: Path) -> None:
    made = session(tmp_path / "c", TABLE + "CREATE DATABASE d COMMENT 'x' WITH ('a' = 'b'); CREATE TABLE d.u (a INT)")
    found = session(tmp_path / "c")
    assert found.list_databases() == ["d", "default"]
    assert found.database("c", "d") == made.database("c", "d")
    for path in (("t",), ("v",), ("d", "u")):
        assert found.get(path) == made.get(path)
    changed = "DROP VIEW v; ALTER TABLE t RENAME TO w; ALTER TABLE w SET ('a' = 'b'); DROP DATABASE d CASCADE"
    session(tmp_path / "c", changed)
    assert found.list_databases() == ["default"]
    assert (found.list_objects("TABLE"), found.list_objects("VIEW")) == (["w"], [])


def test_temporary_objects_do_not(tmp_path: Path) -> None:
    session(
        tmp_path / "c", "CREATE TEMPORARY TABLE t (a INT); DROP TEMPORARY TABLE t; CREATE TEMPORARY VIEW v AS SELECT 1"
    )
    assert session(tmp_path / "c").list_objects("VIEW") == []


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300),
        unique=True,
        max_size=4,
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_name_is_one_file_below_the_folder(tmp_path: Path, names: list[str]) -> None:
    files = {file_name(name).casefold() for name in names}
    assert len(files) == len(names)
    assert all("/" not in each and not each.startswith(".") and len(each) < 200 for each in files)
    folder = CatalogFolder(tmp_path / "c")
    for name in names:
        folder.change("default", Change(name, None, View(f"SELECT '{len(name)}'", ("a",))))
    assert sorted(folder.names("default")) == sorted(names)
    for name in names:
        folder.change("default", Change(name, folder.find("default", name), None))
    assert [each.name for each in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..", ".", "", "a\1b", "CON", "T", "é" * 200])
def test_hostile_names(tmp_path: Path, name: str) -> None:
    folder = CatalogFolder(tmp_path / "c")
    assert folder.create_database(name, Database())
    folder.change(name, Change(name, None, View("SELECT 1", ("a",))))
    assert list(folder.databases()) == ["default", name]
    assert folder.find(name, name) == View("SELECT 1", ("a",))
    assert folder.drop_database(name, cascade=True)
    assert sorted(each.name for each in tmp_path.rglob("*")) == [
        ".lock", "c", "catalog.json", "database.json", "databases", "default",
    ]  # fmt: skip


def test_sessions_at_once_lose_nothing(tmp_path: Path) -> None:
    def create(number: int) -> None:
        session(tmp_path / "c", f"CREATE TABLE t{number} (a INT)")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(create, range(24)))
    assert len(session(tmp_path / "c").list_objects("TABLE")) == 24


def test_the_second_change_of_the_same_object_is_told(tmp_path: Path) -> None:
    first, second = session(tmp_path / "c", TABLE), session(tmp_path / "c")
    seen = first.get(("v",))
    second.drop(("v",), "VIEW")
    with pytest.raises(CatalogError, match="'v' has been created, changed or dropped by another session meanwhile"):
        first.replace(seen, View("SELECT 2", ("k",)))


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT) WITH ('password' = 'hunter22')",
        "CREATE TABLE t (a INT) WITH ('url' = 'jdbc:x://me:hunter22@host/db')",
        "CREATE TABLE t (a INT, b AS 'password=hunter22')",
        "CREATE VIEW v AS SELECT 'password=hunter22'",
        "CREATE DATABASE d WITH ('password' = 'hunter22')",
    ],
)
def test_secrets_are_not_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(CatalogError, match=r"shows a secret[^$]*\n  Write a reference: \$\{env:NAME\}"):
        session(tmp_path / "c", text)
    assert "hunter22" not in "".join(each.read_text() for each in tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-20], "Invalid JSON"),
        (lambda text: text.replace('"formatVersion": 1', '"formatVersion": 2'), "formatVersion"),
        (lambda text: text.replace('"kind": "TABLE"', '"kind": "FUNCTION"'), "kind"),
        (lambda text: text.replace('"kind": "TABLE"', '"kind": "VIEW"'), "has none in it"),
        (lambda text: text.replace('"name": "t"', '"name": "u"'), "is that of 'u'"),
        (lambda text: text.replace('"kind"', '"more": 1, "kind"'), "more"),
        (lambda text: "[" * 100_000, "JSON"),
        (lambda text: text.replace("INT", "NIT"), "table"),
    ],
)
def test_a_broken_document_is_told_with_its_file(tmp_path: Path, change: object, message: str) -> None:
    session(tmp_path / "c", TABLE)
    path = tmp_path / "c/databases/default/objects/t.json"
    assert callable(change)
    path.write_text(change(path.read_text()))
    with pytest.raises(CatalogError, match=message) as told:
        session(tmp_path / "c").get(("t",))
    assert told.value.where == str(path)
    assert told.value.hint


@pytest.mark.parametrize("text", ['"m"', '"connector"', '"the key"', '"${env:P}"'])
def test_a_nul_is_told_with_its_file_and_key(tmp_path: Path, text: str) -> None:
    session(tmp_path / "c", TABLE)
    path = tmp_path / "c/databases/default/objects/t.json"
    whole = path.read_text()
    assert text in whole
    path.write_text(whole.replace(text, f'{text[:-1]}\\u0000"'))
    with pytest.raises(CatalogError, match="holds the character NUL") as told:
        session(tmp_path / "c").get(("t",))
    assert str(told.value.where).startswith(f"{path}, table.")


def test_a_nul_is_not_written(tmp_path: Path) -> None:
    folder = CatalogFolder(tmp_path / "c")
    with pytest.raises(CatalogError, match="NUL"):
        folder.create_database("a\0b", Database())
    with pytest.raises(CatalogError, match="NUL"):
        folder.change("default", Change("v", None, View("SELECT '\0'", ("a",))))
    assert list(folder.names("default")) == []


def test_documents_are_what_the_docs_say(tmp_path: Path) -> None:
    session(tmp_path / "c", TABLE)
    objects = tmp_path / "c/databases/default/objects"
    assert json.loads((objects / "v.json").read_text()) == {
        "formatVersion": 1,
        "kind": "VIEW",
        "name": "v",
        "query": "SELECT id FROM `c`.`default`.`t`",
        "columns": ["k"],
        "types": ["INT NOT NULL"],
        "comment": "d",
    }
    assert json.loads((objects / "t.json").read_text())["table"]["options"]["password"] == "${env:P}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'type' = 'file'", "has no path"),
        ("'type' = 'file', 'path' = '{0}', 'x' = 'y'", "no option 'x'"),
        ("'type' = 'file', 'path' = '{0}/file'", "cannot be read or written"),
        ("'type' = 'file', 'path' = '{0}'", "holds files, and no catalog"),
        ("'type' = 'file', 'path' = '{0}/c', 'default-database' = 'x'", "'x' does not exist"),
        ("'type' = 'hive'", "'type' = 'file' or 'generic_in_memory'"),
    ],
)
def test_refused(tmp_path: Path, options: str, message: str) -> None:
    (tmp_path / "file").write_text("x")
    session(tmp_path / "c")
    with pytest.raises(CatalogError, match=message):
        session(tmp_path / "c", f"CREATE CATALOG d WITH ({options.format(tmp_path)})")


def test_permanent_functions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="keeps no functions"):
        session(tmp_path / "c", "CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON")


def test_a_catalog_of_ones_own() -> None:
    environment = TableEnvironment.create()
    own = MemoryStore("db")
    own.change("db", Change("v", None, View("SELECT 1 AS a", ("a",))))
    environment.register_catalog("own", own)
    assert environment.execute_sql("SHOW VIEWS FROM own.db").rows == [("v",)]
    with pytest.raises(CatalogError, match="'own' exists already"):
        environment.register_catalog("own", own)


def test_describe_catalog(tmp_path: Path) -> None:
    environment = TableEnvironment.create()
    environment.execute_sql(f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{tmp_path}/c')")
    assert environment.execute_sql("DESCRIBE CATALOG c").rows == [
        ("name", "c"), ("type", "file"), ("comment", None),
    ]  # fmt: skip
    assert environment.execute_sql("DESC CATALOG EXTENDED c").rows[3:] == [("option:path", f"{tmp_path}/c")]
    with pytest.raises(CatalogError, match="'d' does not exist"):
        environment.execute_sql("DESCRIBE CATALOG d")
