"""Random queries, changes of them, and rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

AGGREGATES = (
    "SUM(v)", "SUM(w)", "MAX(v)", "MIN(w)", "COUNT(*)", "COUNT(v)", "AVG(v)", "COUNT(DISTINCT v)", "SUM(DISTINCT w)",
    "SUM(v) FILTER (WHERE w > 2)",
)  # fmt: skip
SOURCES = ("t", "r", "(SELECT k, v, w FROM t UNION ALL SELECT k, v, w FROM r)")
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
_WINDOW = (
    "SELECT window_start, k, {} FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) "
    "GROUP BY window_start, window_end, k"
)
_FIRST = "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts{}) AS n FROM t) WHERE n = 1"
_JOIN = "SELECT {} FROM t {} JOIN r ON t.k = r.k"
_NESTED = "SELECT s, COUNT(*) AS c FROM (SELECT k, {} AS s FROM t GROUP BY k) GROUP BY s"
OTHERS = (
    Other(tuple(_WINDOW.format(each) for each in ("SUM(v) AS s, MAX(w) AS m", "MAX(w) AS m, SUM(v) AS s", "SUM(v)"))),
    Other(tuple(_FIRST.format(each, "") for each in ("k, k2, v, w", "k, v * 2 AS v2, k2", "k2, k"))),
    Other((_FIRST.format("k, k2, v", " DESC"), _FIRST.format("v, k", " DESC"), _FIRST.format("k, v", ""))),
    Other(tuple(_JOIN.format(each, "") for each in ("t.k, t.v, r.w, r.v AS rv", "r.w, t.k", "t.v + r.w, t.k"))),
    Other(tuple(_JOIN.format(each, "LEFT") for each in ("t.k, t.v, r.w", "r.w, t.k, t.v", "t.k, t.v + r.w AS s"))),
    Other((_NESTED.format("SUM(v)"), f"SELECT c, s FROM ({_NESTED.format('SUM(v)')})", _NESTED.format("MAX(v)"))),
    Other(
        ("SELECT k, v FROM t WHERE v > 1", "SELECT k, v, w FROM t", "SELECT k, v FROM t UNION ALL SELECT k, v FROM r")
    ),
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
    """Rows of all tables; event time goes forward, so that none is late."""
    found: dict[str, list[dict[str, object]]] = {"t": [], "r": [], "x": []}
    for at in range(number):
        for table, into in found.items():
            row: dict[str, object] = {
                "k": random.choice("abc"),
                "v": random.choice((None, 0, 1, 2, 3)),
                "w": random.randint(0, 4),
            }
            if table == "t":
                row |= {"k2": random.choice("xy"), "ts": f"2024-01-01 00:{at * 2:02}:00"}
            into.append(row)
    return found
