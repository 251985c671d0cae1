"""Random joins over few columns, as SQL and as nested loops: what every kind of join must give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from hypothesis import strategies as st

Row = tuple[int | None, ...]
LEFT = ("id", "a", "b", "ts")
RIGHT = ("id", "e", "f", "ts")
"""Columns; times are seconds."""
TABLES = """
CREATE TABLE l (id INT, a INT, b INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/l', 'format' = 'json');
CREATE TABLE r (id INT, e INT, f INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/r', 'format' = 'json');
CREATE TABLE v (id INT, e INT NOT NULL, f INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (e) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/v', 'format' = 'json');
CREATE TABLE files (id INT, e INT, f INT)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/r', 'format' = 'json', 'lookup.cache' = 'FULL');
CREATE TABLE stored (id INT, e INT, f INT) WITH ('connector' = 'duckdb', 'path' = '{dir}/d.db', 'table' = 'r');
CREATE VIEW files2 AS SELECT id, e, f, e AS e2 FROM files;
CREATE VIEW stored2 AS SELECT id, e, f, e AS e2 FROM stored WHERE e <> 0;
"""
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": lambda x, y: x == y,
    "<>": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    ">=": lambda x, y: x >= y,
}


@dataclass(frozen=True)
class Term:
    """A column, a column and one, or a constant."""

    column: str = ""
    number: int = 0

    def __str__(self) -> str:
        if not self.column:
            return str(self.number)
        return f"{self.column} + {self.number}" if self.number else self.column

    def value(self, row: dict[str, int | None]) -> int | None:
        if not self.column:
            return self.number
        found = row[self.column]
        return None if found is None else found + self.number


@dataclass(frozen=True)
class Comparison:
    """A condition."""

    sign: str
    first: Term
    second: Term

    def __str__(self) -> str:
        return f"{self.first} {self.sign} {self.second}"

    def holds(self, row: dict[str, int | None]) -> bool:
        first, second = self.first.value(row), self.second.value(row)
        if self.sign == "IS NOT DISTINCT FROM":
            return first == second
        return first is not None and second is not None and _COMPARE[self.sign](first, second)


@dataclass(frozen=True)
class Query:
    """A join of `l` with something, and what it gives."""

    family: str
    """plain, semi, window, interval, temporal, or the table that is looked up."""
    kind: str
    on: tuple[Comparison, ...]
    where: tuple[Comparison, ...] = ()

    @property
    def sql(self) -> str:
        """The statement; the columns are the ids."""
        on = " AND ".join(map(str, self.on))
        where = f" WHERE {' AND '.join(map(str, self.where))}" if self.where else ""
        select = f"SELECT l.id, r.id FROM l {self.kind} JOIN"
        match self.family:
            case "plain":
                return f"{select} r ON {on}{where}"
            case "semi" if "IN" in self.kind:
                return f"SELECT l.id FROM l WHERE l.a {self.kind} (SELECT r.e FROM r WHERE {on})"
            case "semi":
                return f"SELECT l.id FROM l WHERE {self.kind} (SELECT 1 FROM r WHERE {on})"
            case "window":
                left, right = (f"TABLE(TUMBLE(TABLE {t}, DESCRIPTOR(ts), INTERVAL '2' SECOND))" for t in "lr")
                same = "l.window_start = r.window_start AND l.window_end = r.window_end"
                return f"SELECT l.id, r.id FROM {left} AS l {self.kind} JOIN {right} AS r ON {same} AND {on}{where}"
            case "interval":
                near = "l.ts BETWEEN r.ts - INTERVAL '1' SECOND AND r.ts + INTERVAL '2' SECOND"
                return f"{select} r ON {near} AND {on}{where}"
            case "temporal":
                return f"{select} v FOR SYSTEM_TIME AS OF l.ts AS r ON {on}{where}"
            case table:
                return f"{select} {table} FOR SYSTEM_TIME AS OF l.pt AS r ON {on}{where}"

    def rows(self, left: Sequence[Row], right: Sequence[Row]) -> list[Row]:
        """What nested loops find, sorted."""
        lefts = [dict(zip((f"l.{name}" for name in LEFT), each, strict=True)) for each in left]
        rights = [dict(zip((f"r.{name}" for name in RIGHT), each, strict=True)) for each in right]
        for each in rights:
            each["r.e2"] = each["r.e"]
        if self.family == "stored2":
            rights = [each for each in rights if each["r.e"] not in (None, 0)]
        on = (
            replace(self, on=(*self.on, Comparison("=", Term("l.a"), Term("r.e")))).on if self.kind == "IN" else self.on
        )
        if self.kind == "NOT IN":
            return _sorted((each["l.id"],) for each in lefts if not any(self._is_member(each, r) for r in rights))
        pairs = [
            (at, to)
            for (at, one), (to, other) in product(enumerate(lefts), enumerate(rights))
            if self._near(one, other, rights) and all(each.holds({**one, **other}) for each in on)
        ]
        matched, partners = {at for at, _ in pairs}, {to for _, to in pairs}
        if self.family == "semi":
            wanted = self.kind in ("IN", "EXISTS")
            return _sorted((each["l.id"],) for at, each in enumerate(lefts) if (at in matched) is wanted)
        found = [{**lefts[at], **rights[to]} for at, to in pairs]
        nothing = [dict.fromkeys(f"{side}.{name}" for name in (*names, "e2")) for side, names in _SIDES]
        if self.kind in ("LEFT", "FULL"):
            found += [{**each, **nothing[1]} for at, each in enumerate(lefts) if at not in matched]
        if self.kind in ("RIGHT", "FULL"):
            found += [{**nothing[0], **each} for to, each in enumerate(rights) if to not in partners]
        kept = (row for row in found if all(each.holds(row) for each in self.where))
        return _sorted((row["l.id"], row["r.id"]) for row in kept)

    def _is_member(self, left: dict[str, int | None], right: dict[str, int | None]) -> bool:
        """Whether a row keeps another one from NOT IN: it is equal, or that is not known."""
        unknown = left["l.a"] is None or right["r.e"] is None
        return (unknown or left["l.a"] == right["r.e"]) and all(each.holds({**left, **right}) for each in self.on)

    def _near(
        self, left: dict[str, int | None], right: dict[str, int | None], rights: list[dict[str, int | None]]
    ) -> bool:
        """What the join asks of times."""
        mine, its = left["l.ts"] or 0, right["r.ts"] or 0
        match self.family:
            case "window":
                return mine // 2 == its // 2
            case "interval":
                return its - 1 <= mine <= its + 2
            case "temporal":
                times = [each["r.ts"] or 0 for each in rights if each["r.e"] == right["r.e"]]
                return its <= mine and its == max(time for time in times if time <= mine)
            case _:
                return True


_SIDES = (("l", LEFT), ("r", RIGHT))


def _sorted(rows: object) -> list[Row]:
    return sorted(rows, key=str)  # type: ignore[call-overload,no-any-return]


CELL = st.none() | st.integers(0, 2)
TIME = st.integers(0, 5)


def tables() -> st.SearchStrategy[tuple[list[Row], list[Row], list[Row]]]:
    """Rows of `l`, `r` and `v`, whose rows with one key and time are the same."""

    def numbered(rows: Sequence[Row]) -> list[Row]:
        return [(at, *each) for at, each in enumerate(rows)]

    rows = st.lists(st.tuples(CELL, CELL, TIME), max_size=4).map(numbered)
    versions = st.lists(st.tuples(st.integers(0, 2), CELL, TIME), max_size=5, unique_by=lambda row: (row[0], row[2]))
    return st.tuples(rows, rows, versions.map(numbered))


def kinds_of(family: str) -> tuple[str, ...]:
    """Kinds of join that there are."""
    if family == "semi":
        return ("EXISTS", "NOT EXISTS", "IN", "NOT IN")
    return ("INNER", "LEFT") if family in (*LOOKED_UP, "temporal") else ("INNER", "LEFT", "RIGHT", "FULL")


def queries(families: Sequence[str]) -> st.SearchStrategy[Query]:
    """Joins of these families; each has an equality of both sides, as most of them ask for one."""
    return st.sampled_from(families).flatmap(_queries)


def _queries(family: str) -> st.SearchStrategy[Query]:
    left, right = ("l.a", "l.b"), ("r.e", "r.f", *(("r.e2",) if family.endswith("2") else ()))
    column = st.sampled_from((*left, *right)).map(Term)
    constant = st.integers(0, 2).map(lambda number: Term("", number))
    term = column | column | constant | st.sampled_from(left).map(lambda name: Term(name, 1))
    sign = st.sampled_from(("=", "=", "=", "=", "<>", "<", ">=", "IS NOT DISTINCT FROM"))
    comparison = st.builds(Comparison, sign, column, term)
    key = ("r.e",) if family == "temporal" else right
    first = st.builds(Comparison, st.just("="), st.sampled_from(left).map(Term), st.sampled_from(key).map(Term))
    on = st.tuples(first, st.lists(comparison, max_size=3)).map(lambda found: (found[0], *found[1]))
    kinds = st.sampled_from(kinds_of(family))
    if family == "semi":
        return st.builds(Query, st.just(family), kinds, on)
    where = st.lists(comparison, max_size=2).map(tuple)
    return st.builds(Query, st.just(family), kinds, on, where)


LOOKED_UP = ("files", "files2", "stored", "stored2")
_OTHERS = ("plain", "semi", "window", "interval", "temporal")
FAMILIES = (*_OTHERS, *LOOKED_UP)

CELLS = (None, 0, 1, 2)
LEFTS: list[Row] = [(at, a, b, at * 5 % 6) for at, (a, b) in enumerate(product(CELLS, CELLS))]
RIGHTS: list[Row] = [(at, e, f, at * 7 % 6) for at, (e, f) in enumerate(product(CELLS, CELLS))]
VERSIONS: list[Row] = [(at, at % 3, (at * 2 + at // 3) % 3, at // 3 * 2) for at in range(9)]
A, B, E, E2, F, TWO = Term("l.a"), Term("l.b"), Term("r.e"), Term("r.e2"), Term("r.f"), Term("", 2)


def _lost(table: str) -> list[tuple[tuple[Comparison, ...], tuple[Comparison, ...]]]:
    """Conditions in ON and WHERE of which lookup joins once kept one."""
    key, other, constant = Comparison("=", A, E), Comparison("=", B, E), Comparison("=", E, TWO)
    found = [((key,), (constant,)), ((key, constant), ()), ((key, other), ()), ((key,), (other,))]
    return [*found, ((key, Comparison("=", B, E2)), ())] if table.endswith("2") else found


KNOWN = [
    *(Query(table, kind, *each) for table in LOOKED_UP for kind in ("INNER", "LEFT") for each in _lost(table)),
    *(Query("temporal", kind, (Comparison("=", A, E), Comparison("=", B, F))) for kind in ("INNER", "LEFT")),
]
"""Conditions that were lost once."""
