"""Random queries, changes of them, and rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

AGGREGATES = (
    "SUM(v)", "SUM(w)", "MAX(v)", "MIN(w)", "COUNT(*)", "COUNT(v)", "AVG(v)", "COUNT(DISTINCT v)", "SUM(DISTINCT w)",
    "SUM(v) FILTER (WHERE w > 2)", "MAX(w) FILTER (WHERE v IS NOT NULL)", "SUM(v * w)", "AVG(CAST(w AS DOUBLE))",
)  # fmt: skip
SOURCES = ("t", "r", "cdc", "(SELECT k, v, w FROM t UNION ALL SELECT k, v, w FROM r)")
MORE = "UNION ALL SELECT k, v, w FROM {}"


@dataclass(frozen=True)
class Aggregate:
    """GROUP BY over one table or several."""

    source: str
    keys: tuple[str, ...]
    calls: tuple[str, ...]
    above: str = ""
    """HAVING over the first call."""
    below: str = ""
    prefix: str = "a"
    """Of aliases."""

    @property
    def sql(self) -> str:
        calls = [f"{call} AS {self.prefix}{at}" for at, call in enumerate(self.calls)]
        where = f" WHERE {self.below}" if self.below else ""
        query = f"SELECT {', '.join((*self.keys, *calls))} FROM {self.source}{where} GROUP BY {', '.join(self.keys)}"
        return f"{query} HAVING {self.calls[0]} {self.above}" if self.above else query

    def changed(self, random: Random) -> Aggregate:
        """Another query, often with the same state."""
        match random.randrange(8):
            case 0:
                return replace(self, calls=tuple(random.sample(self.calls, len(self.calls))), prefix="b")
            case 1 if len(self.calls) > 1:
                return replace(self, calls=self.calls[1:])
            case 2:
                return replace(self, above=random.choice(("> 1", "IS NOT NULL", "< 9")))
            case 3:
                return replace(self, keys=self.keys[::-1])
            case 4:
                return replace(self, calls=(*self.calls, random.choice(AGGREGATES)))
            case 5:
                inner = self.source if self.source.startswith("(") else f"(SELECT k, v, w FROM {self.source})"
                return replace(self, source=f"{inner[:-1]} {MORE.format('x')})", keys=("k",))
            case 6:
                return replace(self, below=random.choice(("v > 1", "w > 1 AND v > 0")))
            case _:
                return replace(self, source=f"(SELECT *, v + w AS unused FROM {self.source})")


@dataclass(frozen=True)
class Other:
    """A query whose changes are written out."""

    forms: tuple[str, ...]
    at: int = 0

    @property
    def sql(self) -> str:
        return self.forms[self.at]

    def changed(self, random: Random) -> Other:
        """Another form."""
        return replace(self, at=random.randrange(len(self.forms)))


Query = Aggregate | Other
Types = tuple[tuple[str, str], ...]
"""Columns as the tables have them, and as they had them before: ``("v BIGINT", "v INT")``."""
_NARROWER = {
    "k STRING": ("k VARCHAR(1)", "k VARCHAR(20)", "k CHAR(1)"),
    "k2 STRING": ("k2 CHAR(1)", "k2 VARCHAR(3) NOT NULL"),
    "v BIGINT": ("v TINYINT", "v SMALLINT", "v INT"),
    "w BIGINT": ("w TINYINT", "w SMALLINT NOT NULL", "w INT", "w BIGINT NOT NULL"),
}


def types(random: Random) -> Types:
    """Narrower types that columns had, of all tables alike."""
    chosen = random.sample(sorted(_NARROWER), random.randint(1, len(_NARROWER)))
    return tuple((each, random.choice(_NARROWER[each])) for each in chosen)


def narrowed(ddl: str, before: Types) -> str:
    """DDL of tables as they were."""
    for now, was in before:
        ddl = ddl.replace(f"{now},", f"{was},").replace(f"{now})", f"{was})")
    return ddl


_WINDOW = "SELECT window_start, k, {} FROM TABLE({}(TABLE t, DESCRIPTOR(ts), {})) GROUP BY window_start, window_end, k"
_KINDS = {
    "TUMBLE": "INTERVAL '5' MINUTES",
    "HOP": "INTERVAL '2' MINUTES, INTERVAL '6' MINUTES",
    "CUMULATE": "INTERVAL '2' MINUTES, INTERVAL '8' MINUTES",
}
_FIRST = "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts{}) AS n FROM t) WHERE n = 1"
_JOIN = "SELECT {} FROM t {} JOIN r ON t.k = r.k"
_SUM = "(SELECT k, SUM(v) AS s, MAX(w) AS m FROM {} GROUP BY k)"
_NESTED = "SELECT s, COUNT(*) AS c FROM (SELECT k, {} AS s FROM t GROUP BY k) GROUP BY s"
OTHERS = (
    *(
        Other(tuple(_WINDOW.format(calls, kind, size) for calls in calls_of_windows))
        for kind, size in _KINDS.items()
        for calls_of_windows in (
            ("SUM(v) AS s, MAX(w) AS m", "MAX(w) AS m, SUM(v) AS s", "SUM(v)"),
            ("COUNT(DISTINCT v) AS d, COUNT(*) AS c", "COUNT(*), COUNT(DISTINCT v)", "COUNT(DISTINCT v) + 1"),
        )
    ),
    Other(tuple(_FIRST.format(each, "") for each in ("k, k2, v, w", "k, v * 2 AS v2, k2", "k2, k"))),
    Other((_FIRST.format("k, k2, v", " DESC"), _FIRST.format("v, k", " DESC"), _FIRST.format("k, v", ""))),
    Other(("SELECT DISTINCT k, v FROM t", "SELECT DISTINCT v, k FROM t", "SELECT v, k FROM t GROUP BY k, v")),
    Other(tuple(_JOIN.format(each, "") for each in ("t.k, t.v, r.w, r.v AS rv", "r.w, t.k", "t.v + r.w, t.k"))),
    *(
        Other(tuple(_JOIN.format(each, kind) for each in ("t.k, t.v, r.w", "r.w, t.k, t.v", "t.k, t.v + r.w AS s")))
        for kind in ("LEFT", "RIGHT", "FULL")
    ),
    Other(
        (
            "SELECT t.k, SUM(r.w) AS s, COUNT(*) AS c FROM t JOIN r ON t.k = r.k GROUP BY t.k",
            "SELECT COUNT(*) AS c, t.k, SUM(r.w) AS s FROM t JOIN r ON r.k = t.k GROUP BY t.k",
            "SELECT t.k, SUM(r.w) AS s FROM t JOIN r ON t.k = r.k GROUP BY t.k HAVING SUM(r.w) > 3",
        )
    ),
    *(
        Other(
            (
                f"SELECT a.k, a.s, a.m, r.w FROM {_SUM.format(table)} AS a JOIN r ON a.k = r.k",
                f"SELECT r.w, a.s + a.m FROM {_SUM.format(table)} AS a JOIN r ON a.k = r.k",
                f"SELECT b.k, b.w, s FROM {_SUM.format(table)} AS a JOIN r AS b ON a.k = b.k",
            )
        )
        for table in ("t", "cdc")
    ),
    Other((_NESTED.format("SUM(v)"), f"SELECT c, s FROM ({_NESTED.format('SUM(v)')})", _NESTED.format("MAX(v)"))),
    Other(
        ("SELECT k, v FROM t WHERE v > 1", "SELECT k, v, w FROM t", "SELECT k, v FROM t UNION ALL SELECT k, v FROM r")
    ),
    Other(("SELECT k, v FROM cdc WHERE v > 1", "SELECT k, v + w FROM cdc", "SELECT w FROM cdc WHERE k <> 'a'")),
)


def query(random: Random) -> Query:
    """Any query."""
    if random.random() < 0.4:
        return random.choice(OTHERS)
    source = random.choice(SOURCES)
    keys = random.choice((("k",), ("k", "k2"), ("k2", "k"))) if source == "t" else ("k",)
    calls = tuple(random.sample(AGGREGATES, random.randint(1, 3)))
    return Aggregate(source, keys, calls, above=random.choice(("", "", "> 0")))


def rows(random: Random, number: int) -> dict[str, list[dict[str, object]]]:
    """Rows of all tables; event time goes forward, so that none is late. Rows of `cdc` are changes."""
    found: dict[str, list[dict[str, object]]] = {"t": [], "r": [], "x": []}
    for at in range(number):
        for table, into in found.items():
            row = _row(random)
            if table == "t":
                row |= {"k2": random.choice("xy"), "ts": f"2024-01-01 00:{at * 2:02}:00"}
            into.append(row)
    return {**found, "cdc": _changes(random, number)}


def _row(random: Random) -> dict[str, object]:
    return {"k": random.choice("abc"), "v": random.choice((None, 0, 1, 2, 3)), "w": random.randint(0, 4)}


def _changes(random: Random, number: int) -> list[dict[str, object]]:
    """Debezium's: rows that come, change and go."""
    there: list[dict[str, object]] = []
    found: list[dict[str, object]] = []
    for _ in range(number):
        kind = random.choice("ccud") if there else "c"
        before = None if kind == "c" else there.pop(random.randrange(len(there)))
        after = None if kind == "d" else _row(random)
        there += [] if after is None else [after]
        found.append({"before": before, "after": after, "op": kind})
    return found
