"""Tables, views and databases made, altered, replaced and dropped in any order, under hostile names, here and on disk.

What is refused changes nothing; what SHOW CREATE says makes the same object again; a catalog on disk is what it was
when it is opened again, and all its files are below its folder.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from execnodes.core.errors import RekindleError, SqlError
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable
from planner import ddl
from planner import statements as s
from planner.catalog.catalogs import Catalog, CatalogObject
from planner.parse import parse
from rekindle.files.catalog_folder import open_catalog_folder
from rekindle.statements.show import create_statement, describe
from tests.fuzz.frame import Defect, Fuzzer
from tests.fuzz.typed import KINDS, Column, expression

NAMES = (
    "a", "b", "k", "ts", "A", "é", "a b", "a`b", "a.b", "a'b", 'a"b', "a--b", "/*", "*/", "", " ",
    ".", "..", "/", "a/b",
    "../../x", "/etc/hosts", "~", "$HOME", "${env:HOME}", "${a}", "%s", "{0}", "[a-z]*", "?",
    "\\", "a\\'b", "\t", "\n",
    "\0", "\x1b[2J", "\u202e", "\ufeff", "\ud800", "null", "NULL", "select", "ROWKIND", "_key",
    "window_start", "rowtime",
    "metadata", "__rekindle", "EXPR$0", "$f0", "CON", "a" * 300, "é" * 130, "-", "--", "-o", "#", ";", "x;y", "a\u0301",
    "constructor", "__class__", "timestamp", "value", "b\r", "0", "1e3", "*", "default", "default_catalog", "١",
)  # fmt: skip
"""For tables, columns, databases, options, constraints, uids, paths."""
_TYPES = (
    *KINDS, "TIMESTAMP_LTZ(3) METADATA", "STRING METADATA FROM 'x' VIRTUAL", "INT NOT NULL", "ROW<`a``b` INT>",
    "INT PRIMARY KEY NOT ENFORCED", "CHAR(0)", "DECIMAL(99, 1)", "MULTISET<ROW<a INT>>", "BYTES COMMENT 'it''s'",
)  # fmt: skip


def named(name: str) -> str:
    """As SQL writes it."""
    return f"`{name.replace('`', '``')}`"


def text(content: str) -> str:
    """A text as SQL writes it."""
    return "'" + content.replace("'", "''") + "'"


def _name(random: Random) -> str:
    return named(random.choice(NAMES[:4] if random.random() < 0.8 else NAMES))


def _path(random: Random) -> str:
    found = named(random.choice(NAMES[:2])) if random.random() < 0.8 else _name(random)
    return found if random.random() < 0.9 else f"{_name(random)}.{found}"


def _column(random: Random, columns: tuple[Column, ...]) -> str:
    name = _name(random)
    if random.random() < 0.25:
        return f"{name} AS {expression(random, random.choice(KINDS), columns, 1)}"
    return f"{name} {random.choice(_TYPES if random.random() < 0.5 else KINDS)}"


def _watermark(random: Random) -> str:
    return f"WATERMARK FOR {_name(random)} AS {random.choice(('ts', '`ts` - INTERVAL', 'a'))}" + random.choice(
        ("", " '5' SECOND", " - INTERVAL '1' MINUTE", " '0' SECOND")
    )


def _key(random: Random) -> str:
    begin = random.choice(("", "", f"CONSTRAINT {_name(random)} "))
    columns = ", ".join(_name(random) for _ in range(random.randint(1, 2)))
    enforced = " NOT ENFORCED" if random.random() < 0.9 else ""
    return f"{begin}PRIMARY KEY ({columns}){enforced}"


_COLUMNS = (Column("a", "INT"), Column("b", "STRING"), Column("ts", "TIMESTAMP(3)"))


def _part(random: Random) -> str:
    match random.randrange(8):
        case 0:
            return _watermark(random)
        case 1:
            return _key(random)
        case _:
            place = random.choice(("", "", "", " FIRST", f" AFTER {_name(random)}"))
            return _column(random, _COLUMNS) + place


def _change(random: Random, table: str) -> str:
    parts = _part(random)
    if random.random() < 0.3:
        parts = f"({', '.join(_part(random) for _ in range(random.randint(1, 3)))})"
    name, other = _name(random), _name(random)
    return f"ALTER TABLE {table} " + random.choice(
        (
            *(
                f"ADD {parts}",
                f"MODIFY {parts}",
                f"DROP {name}",
                f"DROP ({name}, {other})",
                f"RENAME {name} TO {other}",
            ),
            *("DROP WATERMARK", "DROP PRIMARY KEY", f"DROP CONSTRAINT {name}", f"SET ({_option(random)})"),
            *(f"RESET ({text(random.choice(NAMES))})", f"ADD {_watermark(random)}", f"MODIFY {_watermark(random)}"),
        )
    )


def _option(random: Random) -> str:
    key = random.choice(("connector", "number-of-rows", "path", "fields.a.min", random.choice(NAMES)))
    return f"{text(key)} = {text(random.choice(('datagen', '5', '-1', '10000000000000', random.choice(NAMES))))}"


def changes(random: Random) -> str:
    """Changes of the table `made`, each with a semicolon behind it."""
    return "".join(f"{_change(random, 'made')}; " for _ in range(random.randint(1, 2)))


def _table(random: Random, path: str) -> str:
    columns = [_column(random, _COLUMNS) for _ in range(random.randint(0, 2))]
    known = random.choice(("`a` INT", "`a` INT NOT NULL")), "`b` STRING", "`ts` TIMESTAMP(3)"
    more = [each for each, share in ((_watermark(random), 0.4), (_key(random), 0.4)) if random.random() < share]
    tail = random.choice(("", f" COMMENT {text(random.choice(NAMES))}", f" PARTITIONED BY ({_name(random)})"))
    options = random.choice(("'connector' = 'datagen'", _option(random), f"'connector' = 'datagen', {_option(random)}"))
    return f"TABLE {path} ({', '.join([*known, *columns, *more])}){tail} WITH ({options})"


def _statement(random: Random) -> str:
    table = _path(random)
    how = random.choice(("CREATE", "CREATE", "CREATE OR REPLACE", "CREATE TEMPORARY", "CREATE OR REPLACE TEMPORARY"))
    query = random.choice((f"SELECT * FROM {_path(random)}", f"SELECT a AS {_name(random)}, b FROM {_path(random)}",
                           f"SELECT {text(random.choice(NAMES))} AS {_name(random)}", "VALUES (1, 'x')"))  # fmt: skip
    match random.randrange(14):
        case 0 | 1 | 2:
            return f"{how.replace('OR REPLACE ', '') if random.random() < 0.9 else how} {_table(random, table)}"
        case 3:
            return f"{how} TABLE {table} ({_part(random)}) WITH ({_option(random)}) LIKE {_path(random)}"
        case 4:
            return f"{how} VIEW {table} COMMENT {text(random.choice(NAMES))} AS {query}"
        case 5:
            return f"ALTER VIEW {table} AS {query}"
        case 6:
            return f"ALTER {random.choice(('TABLE', 'VIEW'))} {table} RENAME TO {_name(random)}"
        case 7:
            return f"DROP {random.choice(('TABLE', 'VIEW', 'TABLE IF EXISTS', 'TEMPORARY VIEW'))} {table}"
        case 8:
            more = random.choice(("", f" COMMENT {text(random.choice(NAMES))}", f" WITH ({_option(random)})"))
            return f"CREATE DATABASE {_name(random)}{more}"
        case 9 if random.random() < 0.3:
            return f"{random.choice(('USE', 'DROP DATABASE', 'USE CATALOG'))} {_name(random)}"
        case _:
            return _change(random, table)


def draw(random: Random) -> str:
    """Where, then statements, each on a line of its own; line feeds in them are written as such."""
    lines = [f"CREATE {_table(random, named('a'))}", *(_statement(random) for _ in range(random.randint(2, 9)))]
    return "\n".join([random.choice(("memory", "disk")), *(each.replace("\n", "⏎") for each in lines)])


def run(case: str) -> None:
    """Raises the last refusal."""
    first, *lines = case.split("\n")
    with tempfile.TemporaryDirectory(prefix="rekindle-fuzz-") as place:
        catalog, folder = Catalog({"file": open_catalog_folder}), Path(place) / "c"
        if first == "disk":
            shutil.copytree(_empty(), folder)
            _use(catalog, folder)
        refused = None
        for line in lines:
            try:
                _one(line.replace("⏎", "\n"), catalog)
            except RekindleError as error:
                refused = error
        objects = _objects(catalog)
        _shown_again(catalog, objects)
        if first == "disk":
            again = Catalog({"file": open_catalog_folder})
            _use(again, folder)
            again.use_database((catalog.current_database,))
            permanent = {path: each for path, each in objects.items() if not _is_temporary(catalog, path)}
            found = _objects(again)
            if {path: found.get(path) for path in permanent} != permanent:
                raise Defect("the catalog on disk is another one when it is opened again")
        if sorted(each.name for each in Path(place).iterdir()) not in ([], ["c"]):
            raise Defect("there are files outside of the catalog's folder")
        if refused is not None:
            raise refused


@cache
def _empty() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rekindle-fuzz-")) / "c"
    _use(Catalog({"file": open_catalog_folder}), folder)
    return folder


def _use(catalog: Catalog, folder: Path) -> None:
    for statement in parse(f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{folder}'); USE CATALOG c"):
        ddl.execute(statement, catalog, Configuration())


def _one(line: str, catalog: Catalog) -> None:
    for statement in parse(line):
        before = _objects(catalog)
        try:
            ddl.execute(statement, catalog, Configuration())
        except SqlError as error:
            if error.position is None:
                raise Defect(f"a refusal without its place: {error}") from error
            if _objects(catalog) != before:
                raise Defect(f"what is refused has changed something: {error}") from error
            raise


def _objects(catalog: Catalog) -> dict[tuple[str, ...], CatalogObject]:
    database = catalog.current_database
    found = dict[tuple[str, ...], CatalogObject]()
    for kind in ("TABLE", "VIEW"):
        for name in catalog.list_objects(kind):
            entry = catalog.get((catalog.current_catalog, database, name))
            found[catalog.current_catalog, database, name] = entry.object
    return found


def _is_temporary(catalog: Catalog, path: tuple[str, ...]) -> bool:
    return catalog.get(path).temporary


def _shown_again(catalog: Catalog, objects: dict[tuple[str, ...], CatalogObject]) -> None:
    """What SHOW CREATE says makes the same object; DESCRIBE says what it is."""
    for path, each in objects.items():
        is_table = isinstance(each, ResolvedTable)
        written = create_statement("TABLE" if is_table else "VIEW", path, catalog)
        try:
            entry = catalog.get(path)
            catalog.drop(path, "TABLE" if is_table else "VIEW", temporary=entry.temporary)
            for statement in parse(written):
                ddl.execute(statement, catalog, Configuration())
        except RekindleError as error:
            # A view may read what is gone.
            if is_table:
                raise Defect(f"what SHOW CREATE says is refused: {error}") from error
            catalog.create(path, each, temporary=entry.temporary)
            continue
        if catalog.get(path).object != each:
            raise Defect("what SHOW CREATE says makes another object")
        if is_table:
            describe(s.Describe(path), catalog, Configuration())


FUZZER = Fuzzer(draw, run, quick=120)
