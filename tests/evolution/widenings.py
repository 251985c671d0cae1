"""Types of a column that become wider, and the roles that a column has in queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plans.compatibility.compare import Comparison, compare
from plans.compatibility.plan_meanings import meanings
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.statements.evolution import EvolutionError
from tests.evolution.compiling import ALLOW


@dataclass(frozen=True, eq=False)
class Pair:
    """A type, one that it is changed to, and values of the first as JSON has them."""

    old: str
    new: str
    values: tuple[object, ...]
    loses: bool = False
    """Whether values that have been read may differ from those that a fresh run reads."""

    @property
    def title(self) -> str:
        """As tests name it."""
        return f"{self.old} -> {self.new}"

    def __str__(self) -> str:
        return self.title

    def type(self, *, new: bool) -> str:
        """Before or after the change."""
        return self.new if new else self.old


_TEXTS = ("a", "bb", "ccc", None)
_NUMBERS = (1, 20, 100, None, -7)
_DECIMALS = (1.5, 20.25, -0.05, None, 99.99)
_TIMES = ("2024-01-01 00:00:01", "2024-01-01 10:00:00", None, "1969-12-31 23:59:59")
_INSTANTS = tuple(f"{each}Z" if each else None for each in _TIMES)
_ROWS = ({"a": 1, "b": "x"}, {"a": 2, "b": 'y\u001fé"'}, None, {"a": None, "b": "x"})
WIDER = (
    Pair("VARCHAR(10)", "VARCHAR(20)", _TEXTS),
    Pair("VARCHAR(10)", "STRING", _TEXTS),
    Pair("CHAR(3)", "VARCHAR(3)", ("abc", "bb", None, "x")),
    Pair("CHAR(3)", "STRING", ("abc", "bb", None, "x")),
    Pair("BINARY(2)", "VARBINARY(4)", ("YWI=", "Y2Q=", None)),
    Pair("VARBINARY(2)", "BYTES", ("YWI=", "YQ==", None)),
    Pair("TINYINT", "SMALLINT", _NUMBERS),
    Pair("SMALLINT", "INT", _NUMBERS),
    Pair("INT", "BIGINT", _NUMBERS),
    Pair("TINYINT", "BIGINT", _NUMBERS),
    Pair("DECIMAL(10, 2)", "DECIMAL(12, 2)", _DECIMALS),
    Pair("DECIMAL(10, 2)", "DECIMAL(20, 2)", _DECIMALS),
    Pair("DECIMAL(10, 2)", "DECIMAL(12, 4)", _DECIMALS),
    Pair("DECIMAL(10, 2)", "DECIMAL(38, 10)", _DECIMALS),
    Pair("FLOAT", "DOUBLE", (0.5, 1.25, None, -2.0), loses=True),
    Pair("INT NOT NULL", "INT", (1, 2, 30)),
    Pair("VARCHAR(5) NOT NULL", "STRING", ("a", "bb", "ccc")),
    Pair("TIME(0)", "TIME(3)", ("10:00:00", "00:00:01", None)),
    Pair("TIMESTAMP(0)", "TIMESTAMP(3)", _TIMES),
    Pair("TIMESTAMP(3)", "TIMESTAMP(6)", _TIMES),
    Pair("TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", _INSTANTS),
    Pair("ROW<a INT, b VARCHAR(5)>", "ROW<a BIGINT, b STRING>", _ROWS),
    Pair("ROW<a INT, b STRING>", "ROW<b STRING, a INT>", _ROWS),
    Pair("ROW<a INT, b STRING>", "ROW<a INT, b STRING, c DOUBLE>", _ROWS, loses=True),
    Pair("ROW<a INT NOT NULL, b STRING>", "ROW<a INT, b STRING>", ({"a": 1, "b": "x"}, None, {"a": 2, "b": None})),
    Pair("ROW<a DECIMAL(4, 1), r ROW<b INT>>", "ROW<r ROW<b BIGINT>, a DECIMAL(20, 3)>", (
        {"a": 1.5, "r": {"b": 1}}, {"a": -0.5, "r": None}, None, {"a": None, "r": {"b": None}},
    )),
    Pair("ARRAY<INT>", "ARRAY<BIGINT>", ([1, 2], [], None, [None, 7])),
    Pair("ARRAY<DECIMAL(4, 2)>", "ARRAY<DECIMAL(20, 4)>", ([1.5, -0.05], [], None, [None, 7])),
    Pair("ARRAY<ROW<a INT>>", "ARRAY<ROW<a INT, b STRING>>", ([{"a": 1}], [], None, [None, {"a": 7}]), loses=True),
    Pair("MAP<VARCHAR(5), INT>", "MAP<STRING, BIGINT>", ({"a": 1, "b": 2}, {}, None, {"c": None})),
    Pair("MAP<STRING, DECIMAL(4, 1)>", "MAP<STRING, DECIMAL(19, 2)>", ({"a": 1.5, "b": -0.5}, {}, None, {"c": None})),
)  # fmt: skip
NARROWER = (
    ("VARCHAR(20)", "VARCHAR(10)"), ("STRING", "VARCHAR(10)"), ("VARCHAR(3)", "CHAR(3)"), ("CHAR(3)", "CHAR(5)"),
    ("CHAR(5)", "VARCHAR(3)"), ("BIGINT", "INT"), ("SMALLINT", "TINYINT"), ("DECIMAL(12, 2)", "DECIMAL(10, 2)"),
    ("DECIMAL(10, 2)", "DECIMAL(10, 4)"), ("DECIMAL(10, 4)", "DECIMAL(12, 2)"),
    ("DECIMAL(38, 2)", "DECIMAL(38, 4)"),
    ("DOUBLE", "FLOAT"), ("TIMESTAMP(3)", "TIMESTAMP(0)"), ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
    ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"), ("INT", "STRING"), ("INT", "DOUBLE"), ("INT", "DECIMAL(10, 0)"),
    ("INT", "BOOLEAN"), ("DATE", "TIMESTAMP(3)"), ("BYTES", "STRING"), ("ROW<a INT, b INT>", "ROW<a INT>"),
    ("ROW<a INT>", "ROW<b INT>"), ("ROW<a INT>", "ROW<a INT, b INT NOT NULL>"), ("ROW<a INT>", "ROW<a INT NOT NULL>"),
    ("ROW<a BIGINT>", "ROW<a INT>"), ("ARRAY<BIGINT>", "ARRAY<INT>"), ("ARRAY<INT>", "ARRAY<INT NOT NULL>"),
    ("MAP<STRING, BIGINT>", "MAP<STRING, INT>"), ("ARRAY<STRING>", "MULTISET<STRING>"),
)  # fmt: skip
"""Types that do not hold what others do."""
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_NUMERIC = (*_INTEGERS, "DECIMAL", "FLOAT", "DOUBLE")
_FLAT = (*_NUMERIC, "CHAR", "VARCHAR", "BINARY", "VARBINARY", "TIME")
_HASHED = (*_FLAT, "ROW")
_WINDOW = "FROM TABLE(TUMBLE(TABLE {t}, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end"
_RANKED = "(SELECT k, x, w, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {order}) AS n FROM {{t}})"


@dataclass(frozen=True)
class Role:
    """What a query does with column `x` of t, and `y` of r."""

    name: str
    query: str
    blind: bool = False
    """Whether nothing of the values is kept: what they have lost is not missed."""
    sums: bool = False
    """Whether results of a type as wide as that of the column are kept, which may have wrapped."""
    takes: tuple[str, ...] = ()
    """Beginnings of the types that it can have, where not all can be there."""

    def fits(self, pair: Pair) -> bool:
        """Whether a column can have the role."""
        return not self.takes or pair.old.startswith(self.takes)


_UNITED = "SELECT z, COUNT(*) AS c FROM (SELECT x AS z FROM {t} UNION ALL SELECT y FROM {r}) GROUP BY z"
_BELOW = "SELECT s, COUNT(*) AS c FROM (SELECT k, {call} AS s FROM {{t}} GROUP BY k) GROUP BY s"
ROLES = (
    Role("key of GROUP BY", "SELECT x, COUNT(*) AS c FROM {t} GROUP BY x", takes=_HASHED),
    Role("DISTINCT", "SELECT DISTINCT x FROM {t}", takes=_HASHED),
    Role("argument of COUNT", "SELECT k, COUNT(x) AS c FROM {t} GROUP BY k", blind=True),
    Role("argument of COUNT DISTINCT", "SELECT k, COUNT(DISTINCT x) AS c FROM {t} GROUP BY k"),
    Role("argument of SUM", "SELECT k, SUM(x) AS s FROM {t} GROUP BY k", takes=_NUMERIC),
    Role("argument of SUM DISTINCT", "SELECT k, SUM(DISTINCT x) AS s FROM {t} GROUP BY k", takes=_NUMERIC),
    Role("argument of AVG", "SELECT k, AVG(x) AS s FROM {t} GROUP BY k", takes=_NUMERIC),
    Role("argument of STDDEV_POP", "SELECT k, STDDEV_POP(x) AS s FROM {t} GROUP BY k", takes=_NUMERIC),
    Role("argument of MIN and MAX", "SELECT k, MIN(x) AS a, MAX(x) AS b FROM {t} GROUP BY k", takes=_FLAT),
    Role("argument of FIRST_VALUE", "SELECT k, FIRST_VALUE(x) AS a, LAST_VALUE(x) AS b FROM {t} GROUP BY k"),
    Role("argument of LISTAGG", "SELECT k, LISTAGG(x) AS s FROM {t} GROUP BY k", takes=("CHAR", "VARCHAR")),
    Role("argument of ARRAY_AGG", "SELECT k, ARRAY_AGG(x) AS s FROM {t} GROUP BY k"),
    Role("argument of COLLECT", "SELECT k, COLLECT(x) AS s FROM {t} GROUP BY k", takes=(*_HASHED, "ARRAY")),
    Role("a filter", "SELECT k, COUNT(*) AS c FROM {t} WHERE x IS NOT NULL GROUP BY k", blind=True),
    Role("a key of joins", "SELECT t.id, r.w FROM {t} AS t JOIN {r} AS r ON t.x = r.y"),
    Role(
        "a condition of joins", "SELECT t.id, r.w FROM {t} AS t JOIN {r} AS r ON t.k = r.k AND t.x <> r.y", takes=_FLAT
    ),
    Role("a column of joined rows", "SELECT t.id, t.x, r.y FROM {t} AS t LEFT JOIN {r} AS r ON t.k = r.k"),
    Role("a column of semi joins", "SELECT id, x FROM {t} WHERE k IN (SELECT k FROM {r})"),
    Role("a value that is looked for", "SELECT id, x FROM {t} WHERE x IN (SELECT y FROM {r})"),
    Role("the order of Top-N", f"SELECT * FROM {_RANKED.format(key='k', order='x, id')} WHERE n <= 2", takes=_FLAT),
    Role("the partition of Top-N", f"SELECT * FROM {_RANKED.format(key='x', order='w, id')} WHERE n <= 2"),
    Role("a column of Top-N", f"SELECT * FROM {_RANKED.format(key='k', order='w DESC, id')} WHERE n <= 2"),
    Role("the key of a deduplication", f"SELECT k, x, w FROM {_RANKED.format(key='x', order='ts')} WHERE n = 1"),
    Role("a column of a deduplication", f"SELECT k, x, w FROM {_RANKED.format(key='k', order='ts DESC')} WHERE n = 1"),
    Role("an argument with OVER", "SELECT id, MAX(x) OVER (PARTITION BY k ORDER BY ts) AS m FROM {t}", takes=_FLAT),
    Role("the partition of OVER", "SELECT id, x, COUNT(*) OVER (PARTITION BY x ORDER BY ts) AS m FROM {t}"),
    Role("the key of windows", f"SELECT window_start, x, COUNT(*) AS c {_WINDOW}, x", takes=_HASHED),
    Role("an argument in windows", f"SELECT window_start, MAX(x) AS c, COUNT(DISTINCT x) AS d {_WINDOW}", takes=_FLAT),
    Role("a member of UNION ALL", _UNITED, takes=_HASHED),
    Role("a sum below a key", _BELOW.format(call="SUM(x)"), sums=True, takes=_NUMERIC),
    Role("a maximum below a key", _BELOW.format(call="MAX(x)"), takes=_FLAT),
)


def script(pairs: Sequence[Pair], *, new: bool, folder: str = "/nowhere") -> str:
    """DDL of two tables with a column of each type, and of views t0 and r0 that show one as x and as y, t1 and r1, …"""
    options = "WITH ('connector' = 'filesystem', 'path' = '{}/{}', 'format' = 'json')"
    found = []
    for table, columns, time in (
        ("t", "id BIGINT, k STRING, w BIGINT, ts", "ts"),
        ("r", "k STRING, w BIGINT, at", "at"),
    ):
        typed = "".join(f", x{at} {pair.type(new=new)}" for at, pair in enumerate(pairs))
        watermark = f"WATERMARK FOR {time} AS {time} - INTERVAL '1' SECOND"
        found.append(
            f"CREATE TABLE {table} ({columns} TIMESTAMP(3){typed}, {watermark}) {options.format(folder, table)};"
        )
    for at in range(len(pairs)):
        found.append(f"CREATE VIEW t{at} AS SELECT id, k, x{at} AS x, w, ts FROM t;")
        found.append(f"CREATE VIEW r{at} AS SELECT k, x{at} AS y, w, at FROM r;")
    return "\n".join(found) + "\n"


def plan(pair: Pair, role: Role, *, new: bool, origin: CompiledPlan | None = None) -> CompiledPlan:
    """The plan of a query over tables whose column has the old or the new type."""
    text = script([pair], new=new) + role.query.format(t="t0", r="r0")
    return TableEnvironment.create(ALLOW).compile_script(text, from_plan=origin)


def rows(pairs: Sequence[Pair], number: int) -> dict[str, list[dict[str, object]]]:
    """Rows of both tables; event time goes forward, so that none is late."""
    found: dict[str, list[dict[str, object]]] = {"t": [], "r": []}
    for at in range(number):
        values = {f"x{place}": pair.values[at * 7 % len(pair.values)] for place, pair in enumerate(pairs)}
        times = f"2024-01-01 00:{at * 2:02}:00"
        found["t"].append({"id": at, "k": "abc"[at % 3], "w": at * 5 % 7, "ts": times, **values})
        found["r"].append({"k": "abc"[at % 2], "w": at, "at": times, **values})
    return found


def compared(pair: Pair, role: Role) -> Comparison:
    """What becomes of state; the plan that is made from the old one and a comparison of the two say the same."""
    old = plan(pair, role, new=False)
    try:
        new = plan(pair, role, new=True, origin=old)
    except EvolutionError as error:
        return error.comparison
    assert new.comparison is not None
    assert compare(meanings(old.graph), meanings(new.graph)).judgements == new.comparison.judgements
    return new.comparison


def expected(pair: Pair, role: Role) -> str:
    """The verdict of a type that becomes wider."""
    wraps = role.sums and pair.old.startswith(_INTEGERS) and pair.old.removesuffix(" NOT NULL") != pair.new
    return "partial" if wraps or (pair.loses and not role.blind) else "full"


def columns(tables: str, query: str) -> str:
    """Columns of a table that takes a query's rows."""
    (root,) = TableEnvironment.create(ALLOW).compile_script(tables + query).graph.roots()
    return ", ".join(f"c{at} {each.type.regular()}" for at, each in enumerate(root.output_type.fields))
