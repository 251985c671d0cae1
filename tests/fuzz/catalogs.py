"""Catalogs on disk of which documents were changed, cut, removed, copied or replaced by something that is no file.

What is read is either refused by name, or what stands in a document that is whole: no path outside of the catalog is
read, and nothing is written where a name of the catalog leads out of its folder.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from planner import ddl
from planner.catalog.catalogs import Catalog
from planner.parse import parse
from planner.statements import QueryStatement
from plans.format.codec import encode
from plans.format.load import load
from rekindle.files.catalog_folder import open_catalog_folder
from rekindle.statements.compile import compile_graph
from rekindle.statements.show import create_statement
from tests.fuzz.declarations import NAMES
from tests.fuzz.frame import Defect, Fuzzer

_SCRIPT = """
CREATE TABLE t (id INT, b STRING COMMENT 'x', m MAP<STRING, ROW<a INT>>, c AS id + 1, ts TIMESTAMP(3),
  at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED) COMMENT 'c' PARTITIONED BY (b) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE VIEW v (k, n) COMMENT 'd' AS SELECT id, c FROM t; CREATE DATABASE d COMMENT 'e' WITH ('a' = 'b');
CREATE VIEW d.w AS SELECT k FROM `default`.v
"""
_QUERIES = ("SELECT id, c FROM t", "SELECT * FROM v", "SELECT * FROM d.w")
_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 7, 2**70, 1.5, "", "x", "INT", "ROW<`a` INT>", "../../x", "/etc/hosts", "\0", "\ud800",
    "é\u202e", "SELECT 1", "SELECT * FROM v", "SELECT * FROM `c`.`d`.`w`", "DROP TABLE t", "(" * 3000, [], [[]], {},
    ["a", "a"], {"a": None}, "COMPUTED", "METADATA", "TABLE", "VIEW", 2, "9" * 5000,
    {"kind": "INPUT_REF", "inputIndex": -1, "type": "INT"}, {"kind": "LITERAL", "value": 1, "type": "INT NOT NULL"},
)  # fmt: skip
_KINDS = (
    "value",
    "value",
    "value",
    "drop",
    "text",
    "cut",
    "byte",
    "missing",
    "copied",
    "pipe",
    "folder",
    "loop",
    "outside",
)


@cache
def _whole() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rekindle-fuzz-")) / "c"
    catalog = _opened(folder)
    for statement in parse(_SCRIPT):
        ddl.execute(statement, catalog, Configuration())
    return folder


def _opened(folder: Path) -> Catalog:
    catalog = Catalog({"file": open_catalog_folder})
    for statement in parse(f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{folder}'); USE CATALOG c"):
        ddl.execute(statement, catalog, Configuration())
    return catalog


def draw(random: Random) -> str:
    """A damage or two: kind, then numbers that choose the place."""
    return "\n".join(
        json.dumps([random.choice(_KINDS), *(random.randrange(2**16) for _ in range(3))])
        for _ in range(random.choice((1, 1, 2)))
    )


def run(case: str) -> None:
    """Damage a copy, then read all of it; raises the last refusal."""
    with tempfile.TemporaryDirectory(prefix="rekindle-fuzz-") as place:
        folder = Path(place) / "c"
        shutil.copytree(_whole(), folder)
        outside = Path(place) / "outside.json"
        outside.write_bytes((folder / "databases/default/objects/t.json").read_bytes())
        for line in case.splitlines():
            try:
                kind, *numbers = json.loads(line)
                a, b, c = (int(each) % 2**16 for each in numbers)
            except (ValueError, TypeError, OverflowError):
                return
            _damage(folder, str(kind), a, b, c)
        catalog, refused = _opened(folder), None
        for step in (*map(_compiled, _QUERIES), _listed, _shown, _changed):
            try:
                step(catalog)
            except RekindleError as error:
                refused = error
        if sorted(each.name for each in Path(place).iterdir()) != ["c", "outside.json"]:
            raise Defect("there are files outside of the catalog's folder")
        if refused is not None:
            raise refused


def _compiled(query: str) -> Any:
    def step(catalog: Catalog) -> None:
        (statement,) = parse(query)
        assert isinstance(statement, QueryStatement)
        graph = compile_graph(statement, catalog, Configuration())
        assert load(encode(graph)).nodes == graph.nodes

    return step


def _listed(catalog: Catalog) -> None:
    catalog.list_databases()
    for kind in ("TABLE", "VIEW"):
        for database in ("default", "d"):
            catalog.list_objects(kind, (database,))


def _shown(catalog: Catalog) -> None:
    for kind, path in (("TABLE", ("t",)), ("VIEW", ("v",)), ("VIEW", ("d", "w"))):
        parse(create_statement(kind, path, catalog))


def _changed(catalog: Catalog) -> None:
    changes = "ALTER TABLE t ADD z INT; ALTER VIEW v RENAME TO u; CREATE OR REPLACE VIEW d.w AS SELECT 1; DROP TABLE t"
    for statement in parse(changes):
        ddl.execute(statement, catalog, Configuration())


def _damage(folder: Path, kind: str, a: int, b: int, c: int) -> None:
    files = sorted(each for each in folder.rglob("*.json") if each.is_file() and not each.is_symlink())
    if not files:
        return
    file, data = files[a % len(files)], files[a % len(files)].read_bytes()
    match kind:
        case "value" | "drop":
            file.write_bytes(_with_value(data, kind, b, c))
        case "text":
            at = b % (len(data) + 1)
            file.write_bytes(data[:at] + (b"NaN", b"[" * 5000, b'"\\ud800"', b"\xff", b"\0", b"}")[c % 6] + data[at:])
        case "cut":
            file.write_bytes(data[: b % (len(data) + 1)])
        case "byte" if data:
            file.write_bytes(data[: b % len(data)] + bytes([c % 256]) + data[b % len(data) + 1 :])
        case "missing":
            file.unlink()
        case "copied":
            name = (*NAMES, "t.json", "v.json", "%2e%2e.json")[b % (len(NAMES) + 3)]
            if (
                0 < len(name.encode(errors="replace")) < 200
                and "/" not in name
                and not set(name) & set("\0\ud800")
                and name not in (".", "..")
            ):
                target, content = file.parent / name, files[c % len(files)].read_bytes()
                # One made before may be a link to the file, or lead out of the catalog.
                if not target.is_dir():
                    target.unlink(missing_ok=True)
                    target.write_bytes(content)
        case "pipe" | "folder" | "loop" | "outside":
            target = (file, file.parent / f"x{b}.json", folder / ".lock")[c % 3]
            if target.is_dir():
                return
            target.unlink(missing_ok=True)
            if kind == "pipe":
                os.mkfifo(target)
            elif kind == "folder":
                target.mkdir()
            else:
                target.symlink_to(target if kind == "loop" else folder.parent / "outside.json")
        case _:
            return


def _with_value(data: bytes, kind: str, b: int, c: int) -> bytes:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return data
    random, places, rest = Random(b), list[tuple[Any, Any]](), [content]
    while rest:
        here = rest.pop()
        for key in list(here) if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ():
            places.append((here, key))
            rest.append(here[key])
    if places:
        owner, key = random.choice(places)
        if kind == "drop":
            del owner[key]
        else:
            owner[key] = _VALUES[c % len(_VALUES)]
    return json.dumps(content).encode("utf-8", "replace")


FUZZER = Fuzzer(draw, run, quick=60)
