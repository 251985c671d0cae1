"""Queries and scripts that mostly compile: a grammar that knows the columns of each relation and what keeps time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.fuzz.declarations import changes
from tests.fuzz.typed import COMPARED, KINDS, NUMBERS, Column, condition, expression

TABLES = """
CREATE TABLE t (k STRING, a INT, b BIGINT, d DECIMAL(10, 2), f BOOLEAN, xs ARRAY<INT>, m MAP<STRING, INT>,
  r ROW<x INT, y STRING>, day DATE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE u (id INT NOT NULL, k STRING, v DOUBLE, at TIMESTAMP_LTZ(3), c AS id + 1, PRIMARY KEY (id) NOT ENFORCED,
  WATERMARK FOR at AS at) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE cdc (id INT NOT NULL, k STRING, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'debezium-json');
CREATE TABLE out (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');
CREATE TABLE log (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
"""


@dataclass(frozen=True)
class Relation:
    """Something to select from."""

    text: str
    columns: tuple[Column, ...]
    updates: bool = False
    """Whether its rows may be taken back."""
    windowed: bool = False


def _columns(**kinds: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in kinds.items())


_T = (
    *_columns(k="STRING", a="INT", b="BIGINT", d="DECIMAL(10, 2)", f="BOOLEAN", xs="ARRAY<INT>", m="MAP<STRING, INT>"),
    *(Column("r", "ROW<x INT, y STRING>"), Column("day", "DATE"), Column("ts", "TIMESTAMP(3)", time=True)),
)
_U = (*_columns(id="INT", k="STRING", v="DOUBLE"), Column("at", "TIMESTAMP_LTZ(3)", time=True), Column("c", "INT"))
_CDC = _columns(id="INT", k="STRING", v="BIGINT")
_HINTS = ("", "", "", "", " /*+ OPTIONS('number-of-rows' = '3') */")
_STATE_HINTS = ("", "", "", "/*+ STATE_TTL('x' = '1h') */ ", "/*+ BROADCAST(x) */ ")
_AGGREGATES = {
    "BIGINT": ("COUNT(*)", "COUNT({any})", "COUNT(DISTINCT {any})", "SUM({BIGINT})", "MAX({BIGINT})"),
    "INT": ("MIN({INT})", "MAX({INT})", "SUM({INT})", "AVG({INT})"),
    "DOUBLE": ("AVG({DOUBLE})", "SUM({DOUBLE})", "STDDEV_POP({DOUBLE})"),
    "STRING": ("MIN({STRING})", "MAX({STRING})", "LISTAGG({STRING})", "FIRST_VALUE({STRING})", "LAST_VALUE({STRING})"),
    "ARRAY<INT>": ("ARRAY_AGG({INT})",),
    "BOOLEAN": ("MAX({INT}) > 1",),
    "TIMESTAMP(3)": ("MAX({TIMESTAMP(3)})",),
}
_WINDOWS = (
    "TUMBLE(TABLE {}, DESCRIPTOR({}), INTERVAL '1' MINUTE)",
    "HOP(TABLE {}, DESCRIPTOR({}), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)",
    "CUMULATE(TABLE {}, DESCRIPTOR({}), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
    "TUMBLE(DATA => TABLE {}, TIMECOL => DESCRIPTOR({}), SIZE => INTERVAL '1' HOUR)",
)


_SESSIONS = (
    "SESSION(TABLE {}, DESCRIPTOR({}), INTERVAL '1' MINUTE)",
    "SESSION(TABLE {} PARTITION BY k, DESCRIPTOR({}), INTERVAL '1' MINUTE)",
    "SESSION(DATA => TABLE {} PARTITION BY (k), TIMECOL => DESCRIPTOR({}), GAP => INTERVAL '1' HOUR)",
    "SESSION(TABLE {}, DESCRIPTOR({}), INTERVAL '0' SECOND)",
    "SESSION(TABLE {}, DESCRIPTOR({}), INTERVAL - '5' SECOND)",
    "SESSION(TABLE {} PARTITION BY nothing, DESCRIPTOR({}), INTERVAL '1' DAY)",
    "TUMBLE(TABLE {}, DESCRIPTOR({}), INTERVAL '0' SECOND)",
    "HOP(TABLE {}, DESCRIPTOR({}), INTERVAL '7' SECOND, INTERVAL '10' SECOND)",
    "HOP(TABLE {}, DESCRIPTOR({}), INTERVAL '1' DAY, INTERVAL '1' SECOND)",
    "CUMULATE(TABLE {}, DESCRIPTOR({}), INTERVAL '1' SECOND, INTERVAL '99999' DAY(5))",
    "TUMBLE(TABLE {}, DESCRIPTOR({}), INTERVAL '1' MONTH)",
)
_MEMBERS = (
    ("xs", "n", "INT"),
    ("ARRAY[1, CAST(NULL AS INT)]", "n", "INT"),
    ("CAST(NULL AS ARRAY<INT>)", "n", "INT"),
    ("ARRAY[ROW(a, k), ROW(1, 'x')]", "n, l", "INT"),
    ("m", "l, n", "INT"),
    ("ARRAY[xs, ARRAY[1]]", "n", "ARRAY<INT>"),
    ("NULL", "n", "INT"),
    ("k", "n", "STRING"),
    ("ARRAY[]", "n", "INT"),
    ("MAP['a', xs]", "l, n", "ARRAY<INT>"),
    ("r", "n, l", "INT"),
)
"""What UNNEST takes, columns of it, and what n is."""
_ROWS = ("0", "1", "2", "100", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "1e3", "-1")
_FRAMES = (
    *("", "", "ROWS {} PRECEDING", "ROWS BETWEEN {} PRECEDING AND CURRENT ROW", "ROWS UNBOUNDED PRECEDING"),
    *("RANGE BETWEEN INTERVAL '{}' SECOND PRECEDING AND CURRENT ROW", "RANGE UNBOUNDED PRECEDING"),
    *("ROWS BETWEEN CURRENT ROW AND {} FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    *("ROWS BETWEEN {} PRECEDING AND 1 PRECEDING", "RANGE {} PRECEDING", "ROWS BETWEEN {} FOLLOWING AND CURRENT ROW"),
)
_RANKS = ("ROW_NUMBER()", "ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(3)", "PERCENT_RANK()", "CUME_DIST()")
_FUNCTIONS_OVER = (
    *("COUNT(*)", "MAX({})", "SUM({})", "AVG({})", "LAG({})", "LAG({}, 2)", "LAG({}, 2, {})", "LEAD({})"),
    *("FIRST_VALUE({})", "LAST_VALUE({})", "LAG({}, 2147483647)", "LAG({}, -1)", "COUNT(DISTINCT {})", "NTILE(0)"),
    *("ARRAY_AGG({})", "LISTAGG({})", "NTH_VALUE({}, 0)", "STDDEV_POP({})", "UPPER({})"),
)


class Queries:
    """One draw; `batch`: for bounded input, which knows more."""

    def __init__(self, random: Random, *, batch: bool = False) -> None:
        self.random = random
        self.batch = batch
        self.names = 0

    def query(self, depth: int, kinds: tuple[str, ...] | None = None) -> Relation:
        """A query; its columns have the kinds that are asked for."""
        draw = self.random.random()
        if depth and draw < 0.1:
            return self._set(depth, kinds)
        if depth and draw < 0.16:
            name = self._name()
            inner = self.query(depth - 1)
            outer = self.select(replace(inner, text=name), depth, kinds)
            return replace(outer, text=f"WITH {name} AS ({inner.text}) {outer.text}")
        source = self._relation(depth)
        if draw < 0.45:
            return self._grouped(source, depth, kinds)
        if draw < 0.55:
            return self._over(source, depth, kinds)
        if draw < 0.62:
            return self._ranked(source, depth, kinds)
        return self.select(source, depth, kinds)

    def _name(self) -> str:
        self.names += 1
        return f"q{self.names}"

    def _kinds(self, kinds: tuple[str, ...] | None, known: tuple[str, ...] = KINDS) -> tuple[str, ...]:
        return kinds or tuple(self.random.choices(known, k=self.random.randint(1, 4)))

    def _set(self, depth: int, kinds: tuple[str, ...] | None) -> Relation:
        word = self.random.choice(("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL"))
        wanted = self._kinds(kinds, COMPARED)
        left, right = self.query(depth - 1, wanted), self.query(depth - 1, wanted)
        updates = left.updates or right.updates or word != "UNION ALL"
        return Relation(f"({left.text}) {word} ({right.text})", left.columns, updates)

    def _relation(self, depth: int) -> Relation:
        draw = self.random.random()
        if depth and draw < 0.2:
            return self._joined(depth)
        if depth and draw < 0.35:
            name, inner = self._name(), self.query(depth - 1)
            return replace(inner, text=f"({inner.text}) AS {name}", windowed=False)
        if draw < 0.45:
            return self._window()
        if draw < 0.5:
            rows = ", ".join(f"({self.expression('INT', (), 1)}, {self.expression('STRING', (), 0)})" for _ in range(3))
            name = self._name()
            return Relation(f"(VALUES {rows}) AS {name}(a, k)", _columns(a="INT", k="STRING"))
        if draw < 0.54:
            return self._members()
        return self._table()

    def _table(self) -> Relation:
        match self.random.randrange(5):
            case 0:
                return Relation("cdc", _CDC, updates=True)
            case 1:
                return Relation(f"u{self.random.choice(_HINTS)}", _U)
            case _:
                return Relation(f"t{self.random.choice(_HINTS)}", _T)

    def _window(self) -> Relation:
        name, columns, time = self.random.choice((("t", _T, "ts"), ("u", _U, "at")))
        known = _WINDOWS if self.random.random() < 0.6 else _SESSIONS
        text = f"TABLE({self.random.choice(known).format(name, time)})"
        bounds = _columns(window_start="TIMESTAMP(3)", window_end="TIMESTAMP(3)")
        return Relation(text, (*columns, *bounds), windowed=True)

    def _members(self) -> Relation:
        members, names, kind = self.random.choice(_MEMBERS)
        how = self.random.choice(("CROSS JOIN UNNEST({})", "LEFT JOIN UNNEST({}){} ON TRUE", ", UNNEST({})"))
        ordinal = self.random.random() < 0.2
        called = f" AS e({names}{', o' if ordinal else ''})"
        if ordinal:
            called = f" WITH ORDINALITY{called}"
        text = how.replace("{}", members, 1)
        text = text.format(called) if "{}" in text else text + called
        return Relation(f"t{'' if text.startswith(',') else ' '}{text}", (*_T, Column("n", kind)))

    def _joined(self, depth: int) -> Relation:
        sides = [self.query(depth - 1) if self.random.random() < 0.3 else self._table() for _ in range(2)]
        texts, columns = [], list[Column]()
        for side, name in zip(sides, ("x", "y"), strict=True):
            texts.append(f"({side.text}) AS {name}" if side.text.startswith(("SELECT", "(", "WITH")) else
                         f"{side.text} AS {name}")  # fmt: skip
            # Names that are not plain, and those of both sides, are of no use behind a join.
            columns += [replace(each, name=f"{name}.{each.name}", time=False) for each in side.columns]
        left = [each for each in columns if each.name.startswith("x.") and each.kind in COMPARED]
        right = [each for each in columns if each.name.startswith("y.")]
        pairs = [(one.name, other.name) for one in left for other in right if one.kind == other.kind]
        kind = self.random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        on = " = ".join(self.random.choice(pairs)) if pairs else "TRUE"
        if not pairs:
            kind = "JOIN"
        elif kind == "JOIN" and self.random.random() < 0.3:
            on = f"{on} AND {condition(self.random, tuple(columns), 1)}"
        updates = kind != "JOIN" or any(side.updates for side in sides)
        return Relation(f"{texts[0]} {kind} {texts[1]} ON {on}", tuple(columns), updates)

    def expression(self, kind: str, columns: tuple[Column, ...], depth: int = 2) -> str:
        """An expression of a kind."""
        return expression(self.random, kind, columns, depth)

    def select(self, source: Relation, depth: int, kinds: tuple[str, ...] | None) -> Relation:
        """A projection, perhaps with a filter."""
        wanted = self._kinds(kinds)
        values = [self.expression(each, source.columns, self.random.randint(0, 3)) for each in wanted]
        return self._written(source, values, wanted, depth, source.updates)

    def _written(
        self, source: Relation, values: list[str], kinds: tuple[str, ...], depth: int, updates: bool, tail: str = ""
    ) -> Relation:
        names = [f"c{at}" for at in range(len(values))]
        distinct = not tail and all(each in COMPARED for each in kinds) and self.random.random() < 0.1
        hint = self.random.choice(_STATE_HINTS) if " AS x" in source.text and "JOIN" in source.text else ""
        items = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
        head = f"SELECT {hint}{'DISTINCT ' if distinct else ''}{items}"
        text = f"{head} FROM {source.text}{self._where(source, depth)}{tail}"
        if not tail and kinds[0] in COMPARED and self.random.random() < 0.15:
            text += self._limits()
            updates = True
        columns = tuple(Column(name, kind) for name, kind in zip(names, kinds, strict=True))
        return Relation(text, columns, updates or distinct)

    def _limits(self) -> str:
        random = self.random
        order = f" ORDER BY c0 {random.choice(('ASC', 'DESC', 'ASC NULLS LAST', 'DESC NULLS FIRST', ''))}"
        rows, more = random.choice(_ROWS), random.choice(_ROWS)
        first = (f" LIMIT {rows}", f" LIMIT {rows} OFFSET {more}", f" OFFSET {more} ROWS", " LIMIT ALL", "")
        limit = random.choice((*first, f" FETCH FIRST {rows} ROWS ONLY", f" OFFSET {more} FETCH NEXT {rows} ROW ONLY"))
        return (order if random.random() < 0.7 else "") + limit

    def _where(self, source: Relation, depth: int) -> str:
        draw = self.random.random()
        if draw < 0.5:
            return ""
        if depth and draw < 0.6:
            kind = self.random.choice(("INT", "STRING"))
            inner = self.query(depth - 1, (kind,))
            negated = self.random.choice(("", "", "NOT "))
            return f" WHERE {self.expression(kind, source.columns, 1)} {negated}IN ({inner.text})"
        if depth and draw < 0.65:
            return f" WHERE {self.random.choice(('', 'NOT '))}EXISTS ({self.query(depth - 1).text})"
        if depth and draw < 0.7:
            inner = self.select(self._table(), 0, ("INT",))
            aggregated = f"SELECT MAX(c0) FROM ({inner.text}) AS {self._name()}"
            return f" WHERE {self.expression('INT', source.columns, 1)} < ({aggregated})"
        return f" WHERE {condition(self.random, source.columns, 2)}"

    def _grouped(self, source: Relation, depth: int, kinds: tuple[str, ...] | None) -> Relation:
        keys = [each for each in source.columns if each.kind in COMPARED and not each.time]
        chosen = self.random.sample(keys, min(len(keys), self.random.randint(0, 2)))
        wanted = self._kinds(kinds, tuple(_AGGREGATES))
        values = []
        for kind in wanted:
            fitting = [each.name for each in chosen if each.kind == kind]
            values.append(self.random.choice(fitting) if fitting else self._aggregate(kind, source, fitting))
        by = [each.name for each in chosen]
        if source.windowed and self.random.random() < 0.8:
            by += [each for each in ("window_start", "window_end") if each not in by]
            plain = True
        else:
            plain = self.random.random() < 0.8
        tail = ""
        if by:
            form = "{}" if plain else self.random.choice(("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"))
            tail = f" GROUP BY {form.format(', '.join(by))}"
        if self.random.random() < 0.15:
            tail += f" HAVING {self._aggregate('BIGINT', source, [])} > 1"
        return self._written(source, values, wanted, depth, True, tail or " ")

    def _aggregate(self, kind: str, source: Relation, fitting: list[str]) -> str:
        if kind not in _AGGREGATES:
            return f"CAST({self._aggregate('BIGINT', source, fitting)} AS {kind})" if kind in NUMBERS else (
                f"MAX({self.expression(kind, source.columns, 1)})")  # fmt: skip
        form = self.random.choice(_AGGREGATES[kind])
        for each in ("any", *KINDS):
            if f"{{{each}}}" in form:
                inner = self.random.choice(COMPARED) if each == "any" else each
                form = form.replace(f"{{{each}}}", self.expression(inner, source.columns, 1))
        if self.random.random() < 0.1 and form.endswith(")"):
            form += f" FILTER (WHERE {condition(self.random, source.columns, 1)})"
        return form

    def _over(self, source: Relation, depth: int, kinds: tuple[str, ...] | None) -> Relation:
        random, wanted = self.random, self._kinds(kinds)
        ordered = [each.name for each in source.columns if each.kind in COMPARED] or ["1"]
        times = [each.name for each in source.columns if each.time]
        order = random.choice(times) if times and random.random() < 0.7 else random.choice(ordered)
        value = random.choice(ordered)
        frame = random.choice(_FRAMES).format(random.choice((*_ROWS, "1000000000000")))
        partition = f"PARTITION BY {random.choice(ordered)} " if random.random() < 0.7 else ""
        window = f"({partition}ORDER BY {order}{random.choice(('', '', ' DESC'))} {frame})"
        function = random.choice((*_RANKS, *_FUNCTIONS_OVER)).replace("{}", value)
        called, tail = (f"OVER {window}", "") if random.random() < 0.8 else ("OVER w", f" WINDOW w AS {window}")
        inner = f"(SELECT *, {function} {called} AS n FROM {source.text}{tail}) AS {self._name()}"
        return self.select(Relation(inner, self._unique(source), source.updates), depth, wanted)

    def _ranked(self, source: Relation, depth: int, kinds: tuple[str, ...] | None) -> Relation:
        """A Top-N, a deduplication, or nearly one."""
        random, wanted = self.random, self._kinds(kinds)
        ordered = [each.name for each in source.columns if each.kind in COMPARED] or ["1"]
        keys = ", ".join(random.choices(ordered, k=random.randint(1, 2)))
        if source.windowed and random.random() < 0.8:
            keys = f"window_start, window_end, {keys}"
        order = ", ".join(
            f"{each}{random.choice(('', ' DESC', ' NULLS LAST'))}" for each in random.choices(ordered, k=2)
        )
        rank = f"{random.choice(_RANKS)} OVER (PARTITION BY {keys} ORDER BY {order})"
        limit = random.choice((f"{{}} <= {random.choice(_ROWS)}", "{} = 1", "{} = 2", "{} BETWEEN 2 AND 5", "3 > {}",
                               "{} <= a", "{} < 3 AND a > 1", "{} < 3 OR a > 1", "{} IN (1, 2)"))  # fmt: skip
        if random.random() < 0.25:
            inner = f"(SELECT * FROM {source.text} QUALIFY {limit.format(rank)}) AS {self._name()}"
        else:
            inner = (
                f"(SELECT * FROM (SELECT *, {rank} AS n FROM {source.text}) AS {self._name()} "
                f"WHERE {limit.format('n')}) AS {self._name()}"
            )
        return self.select(Relation(inner, self._unique(source), True), depth, wanted)

    def _unique(self, source: Relation) -> tuple[Column, ...]:
        """Columns of * whose names can be written."""
        plain = tuple(Column(each.name.rpartition(".")[2], each.kind) for each in source.columns)
        names = [each.name for each in plain]
        return tuple(each for each in plain if names.count(each.name) == 1)


def script(random: Random) -> str:
    """A statement, perhaps with what must stand before it."""
    batch = random.random() < 0.2
    queries = Queries(random, batch=batch)
    begin = "SET 'execution.runtime-mode' = 'batch'; " if batch else ""
    depth = random.choice((0, 0, 0, 1, 1, 2))
    match random.randrange(10):
        case 0 | 1:
            into = "log" if batch else "out"
            return f"{begin}INSERT INTO {into} {queries.query(depth, ('STRING', 'BIGINT')).text}"
        case 2:
            view = queries.query(depth)
            outer = queries.select(replace(view, text="v"), 1, None)
            return f"{begin}CREATE TEMPORARY VIEW v AS {view.text}; {outer.text}"
        case 3 if random.random() < 0.5:
            return f"{begin}{_table(random)}; {changes(random)}SELECT * FROM made"
        case 3:
            return f"{begin}{_table(random)}; SELECT * FROM made"
        case 4:
            inserts = "".join(f"INSERT INTO out {queries.query(depth, ('STRING', 'BIGINT')).text}; " for _ in range(2))
            return f"{begin}EXECUTE STATEMENT SET BEGIN {inserts}END"
        case _:
            return begin + queries.query(depth).text


def _table(random: Random) -> str:
    kinds = random.choices(KINDS, k=random.randint(1, 5))
    columns = [f"c{at} {kind}{random.choice(('', '', ' NOT NULL'))}" for at, kind in enumerate(kinds)]
    known = tuple(Column(f"c{at}", kind) for at, kind in enumerate(kinds))
    if random.random() < 0.5:
        columns.append(f"more AS {expression(random, random.choice(KINDS), known, 2)}")
    if random.random() < 0.3:
        columns.append("ts TIMESTAMP(3)")
        columns.append(f"WATERMARK FOR ts AS ts - INTERVAL '{random.randint(0, 99)}' SECOND")
    return f"CREATE TABLE made ({', '.join(columns)}) WITH ('connector' = 'datagen', 'number-of-rows' = '5')"
