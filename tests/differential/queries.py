"""Random queries that DuckDB answers too; what it writes differently stands twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

SCALARS = (
    "SUM(v)", "SUM(w)", "MAX(v)", "MIN(w)", "COUNT(*)", "COUNT(v)", "AVG(CAST(v AS DOUBLE))", "COUNT(DISTINCT v)",
    "SUM(DISTINCT w)", "SUM(v) FILTER (WHERE w > 1)", "COUNT(DISTINCT w) FILTER (WHERE v IS NOT NULL)", "MIN(k)",
    "MAX(v) FILTER (WHERE w < 3)", "SUM(v * w)",
)  # fmt: skip
RUNNING = ("SUM(v)", "COUNT(*)", "COUNT(v)", "MIN(v)", "MAX(w)", "AVG(CAST(w AS DOUBLE))", "FIRST_VALUE(w)",
           "LAST_VALUE(id)", "COUNT(DISTINCT v)")  # fmt: skip


@dataclass(frozen=True)
class Query:
    """A query, and how it is written for DuckDB."""

    sql: str
    judge: str
    append: bool = False
    """Reads tables only that batch mode reads, too."""


def query(random: Random) -> Query:
    """Any."""
    return random.choice(FAMILIES)(random)


def _same(sql: str) -> Query:
    return Query(sql, sql, "cdc" not in sql)


def _source(random: Random) -> str:
    """Something with id, k, v and w; id is unique."""
    return random.choice((
        "t", "cdc", "cdc", "(SELECT id, k, v, w FROM t WHERE w > 0)",
        "(SELECT id, k, v, w FROM t UNION ALL SELECT id, k, v, w FROM r)",
        "(SELECT id, k, v, w FROM cdc UNION ALL SELECT id, k, v, w FROM r)",
        "(SELECT MAX(id) AS id, k, SUM(v) AS v, MIN(w) AS w FROM cdc GROUP BY k)",
        "(SELECT MAX(id) AS id, k, COUNT(v) AS v, w FROM t GROUP BY k, w)",
    ))  # fmt: skip


def _order(random: Random) -> str:
    """A total one."""
    nulls = random.choice(("NULLS FIRST", "NULLS LAST"))
    first = random.choice(("v", "w", "v + w", "k"))
    return f"{first} {random.choice(('ASC', 'DESC'))} {nulls}, id {random.choice(('ASC', 'DESC'))}"


def _ranked(random: Random) -> str:
    """A Top-N with the columns of `_source`."""
    partition = random.choice(("", "PARTITION BY k ", "PARTITION BY w, k "))
    shown = random.choice(("", ", rn"))
    bounds = random.choice(("rn <= 1", "rn <= 3", "rn < 3", "rn BETWEEN 2 AND 4", "rn = 1", "rn = 2", "3 >= rn"))
    more = random.choice(("", "", " AND w > 1"))
    return (
        f"SELECT id, k, v, w{shown} FROM (SELECT *, ROW_NUMBER() OVER ({partition}ORDER BY {_order(random)}) AS rn"
        f" FROM {_source(random)}) WHERE {bounds}{more}"
    )


def rank(random: Random) -> Query:
    return _same(_ranked(random))


def limit(random: Random) -> Query:
    offset = random.choice(("", "", " OFFSET 1", " OFFSET 3"))
    sql = f"SELECT id, k, v FROM {_source(random)} ORDER BY {_order(random)} LIMIT {random.randint(1, 6)}{offset}"
    return _same(f"SELECT * FROM ({sql})" if random.random() < 0.5 else sql)


def above_rank(random: Random) -> Query:
    inner = random.choice((_ranked, lambda one: limit(one).sql))(random)
    calls = ", ".join(f"{each} AS a{at}" for at, each in enumerate(_some(random, ("SUM(v)", "COUNT(*)", "MAX(id)"))))
    return _same(f"SELECT k, {calls} FROM ({inner}) GROUP BY k")


def group(random: Random) -> Query:
    calls = ", ".join(f"{each} AS a{at}" for at, each in enumerate(_some(random, SCALARS)))
    keys = random.choice((
        "k", "w", "k, w", "GROUPING SETS ((k), (w))", "ROLLUP (k, w)", "CUBE (k, w)", "GROUPING SETS ((k, w), ())",
    ))  # fmt: skip
    shown = keys if "(" not in keys else "k, w"
    having = random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING MAX(v) IS NOT NULL"))
    return _same(f"SELECT {shown}, {calls} FROM {_source(random)} GROUP BY {keys}{having}")


def whole(random: Random) -> Query:
    calls = ", ".join(f"{each} AS a{at}" for at, each in enumerate(_some(random, SCALARS)))
    return _same(f"SELECT {calls} FROM {_source(random)}")


def distinct(random: Random) -> Query:
    return _same(f"SELECT DISTINCT {random.choice(('k', 'v, w', 'k, w', 'v IS NULL, k'))} FROM {_source(random)}")


def combined(random: Random) -> Query:
    kind = random.choice(("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"))
    columns = random.choice(("k, v", "v", "w, v"))
    sides = (f"SELECT {columns} FROM {_source(random)}" for _ in range(2))
    return _same(f" {kind} ".join(sides))


def over(random: Random) -> Query:
    """Rows with the times of `t`, or of `tie`, where only ranges of time tell what a row sees."""
    ranges = (
        "RANGE BETWEEN INTERVAL '6' MINUTE PRECEDING AND CURRENT ROW",
        "RANGE BETWEEN INTERVAL '30' MINUTE PRECEDING AND CURRENT ROW",
        "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    )
    rows = (
        "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "",
    )  # fmt: skip
    partition = random.choice(("", "PARTITION BY k ", "PARTITION BY k, w "))
    table, frame = ("tie", random.choice(ranges)) if random.random() < 0.3 else ("t", random.choice((*ranges, *rows)))
    # Which of the rows of one time is the first says their order, which `tie` does not tell.
    known = RUNNING if table == "t" else tuple(each for each in RUNNING if "_VALUE" not in each)
    window = f"OVER ({partition}ORDER BY ts {frame})"
    calls = ", ".join(f"{each} {window} AS a{at}" for at, each in enumerate(_some(random, known)))
    where = random.choice(("", "", " WHERE w > 0"))
    return _same(f"SELECT id, {calls} FROM {table}{where}")


def lag(random: Random) -> Query:
    call = random.choice(("LAG(v)", "LAG(w, 2)", "LAG(w, 1, CAST(9 AS BIGINT))", "ROW_NUMBER()", "LAG(k, 1)"))
    partition = random.choice(("", "PARTITION BY k "))
    return _same(f"SELECT id, {call} OVER ({partition}ORDER BY ts) AS a FROM t")


def deduplicate(random: Random) -> Query:
    keys, way = random.choice(("k", "w", "k, w")), random.choice(("ASC", "DESC"))
    inner = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY ts {way}) AS rn FROM t"
    kept = f"SELECT id, k, v, w FROM ({inner}) WHERE rn = 1"
    return _same(random.choice((kept, f"SELECT w, SUM(v) AS s, COUNT(*) AS c FROM ({kept}) GROUP BY w")))


def unnest(random: Random) -> Query:
    kind = random.choice(("CROSS JOIN UNNEST(tags) AS u (x)", "LEFT JOIN UNNEST(tags) AS u (x) ON TRUE"))
    lateral = kind.replace("UNNEST(tags) AS u (x)", "LATERAL (SELECT UNNEST(tags) AS x) AS u")
    shape = random.choice((
        "SELECT id, x FROM t {}", "SELECT id, k, x + w FROM t {} WHERE x > 1 OR x IS NULL",
        "SELECT x, COUNT(*) AS c, SUM(v) AS s FROM t {} GROUP BY x",
        "SELECT k, x, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY x ORDER BY id DESC, x) AS rn FROM"
        " (SELECT DISTINCT id, k, x FROM t {})) WHERE rn <= 2",
    ))  # fmt: skip
    return Query(shape.format(kind), shape.format(lateral), append=True)


def window(random: Random) -> Query:
    flink, judge = _windows(random)
    key = random.choice((", k", ", k", "", ", w"))
    calls = ", ".join(f"{each} AS a{at}" for at, each in enumerate(_some(random, SCALARS)))
    having = random.choice(("", "", " HAVING SUM(w) > 2"))
    shape = random.choice((
        f"SELECT window_start, window_end{key}, {calls} FROM {{}} GROUP BY window_start, window_end{key}{having}",
        f"SELECT window_start, window_end, k, w, {calls} FROM {{}}"
        " GROUP BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end, w))",
        "SELECT id, window_start, window_end, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start,"
        f" window_end{key} ORDER BY {_order(random)}) AS rn FROM {{}}) WHERE rn <= 2",
        "SELECT k, window_start, s, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end"
        " ORDER BY s DESC NULLS LAST, k NULLS LAST) AS rn FROM (SELECT k, window_start, window_end, SUM(v) AS s"
        " FROM {} GROUP BY window_start, window_end, k)) WHERE rn <= 2",
        "SELECT id, k, window_start, window_end FROM {}",
        "SELECT k, COUNT(*) AS c, SUM(s) AS s FROM (SELECT k, window_end, SUM(w) AS s FROM {}"
        " GROUP BY window_start, window_end, k) GROUP BY k",
    ))  # fmt: skip
    return Query(shape.format(flink), shape.format(judge), append=True)


def session(random: Random) -> Query:
    keys, gap = random.choice(("k", "k, w", "")), random.choice((2, 5, 9))
    partition = f"PARTITION BY {keys}" if keys else ""
    flink = f"TABLE(SESSION(TABLE t {partition}, DESCRIPTOR(ts), INTERVAL '{gap}' MINUTE(3)))"
    ordered = f"OVER ({partition} ORDER BY ts)"
    apart = f"CASE WHEN ts - LAG(ts) {ordered} <= INTERVAL '{gap}' MINUTE THEN 0 ELSE 1 END AS new"
    same = f"OVER (PARTITION BY {', '.join(filter(None, (keys, 'n')))})"
    judge = (
        f"(SELECT *, MIN(ts) {same} AS window_start, MAX(ts) {same} + INTERVAL '{gap}' MINUTE AS window_end"
        f" FROM (SELECT *, SUM(new) {ordered} AS n FROM (SELECT *, {apart} FROM t)))"
    )
    calls = ", ".join(f"{each} AS a{at}" for at, each in enumerate(_some(random, SCALARS)))
    shown = f", {keys}" if keys else ""
    text = f"SELECT window_start, window_end{shown}, {calls} FROM {{}} GROUP BY window_start, window_end{shown}"
    return Query(text.format(flink), text.format(judge), append=True)


def _windows(random: Random) -> tuple[str, str]:
    """A windowing function over a table with times, and what it is in DuckDB."""
    table = random.choice(("t", "tie"))
    named, made = (random.choice(("TUMBLE", "HOP", "CUMULATE")), f"TABLE {table}, DESCRIPTOR(ts)")
    step, count = random.choice((5, 7, 20, 60)), random.choice((2, 3, 5))
    size = step * count

    def bucket(minutes: int) -> str:
        return f"time_bucket(INTERVAL '{minutes}' MINUTE, ts, TIMESTAMP '1970-01-01')"

    if named == "TUMBLE":
        start, end, series = bucket(step), f"{bucket(step)} + INTERVAL '{step}' MINUTE", "SELECT 0 AS n"
        sizes = f"INTERVAL '{step}' MINUTE(3)"
    elif named == "HOP":
        start = f"{bucket(step)} - n * INTERVAL '{step}' MINUTE"
        end, series = f"{start} + INTERVAL '{size}' MINUTE", f"SELECT UNNEST(range({count})) AS n"
        sizes = f"INTERVAL '{step}' MINUTE, INTERVAL '{size}' MINUTE(3)"
    else:
        start, series = bucket(size), f"SELECT UNNEST(range(1, {count} + 1)) AS n"
        end, sizes = f"{start} + n * INTERVAL '{step}' MINUTE", f"INTERVAL '{step}' MINUTE, INTERVAL '{size}' MINUTE(3)"
    judge = f"SELECT *, {start} AS window_start, {end} AS window_end FROM {table}, ({series})"
    return f"TABLE({named}({made}, {sizes}))", f"(SELECT * FROM ({judge}) WHERE window_end > ts)"


def _some(random: Random, of: Sequence[str]) -> list[str]:
    return random.sample(of, random.randint(1, 3))


FAMILIES: tuple[Callable[[Random], Query], ...] = (
    rank, rank, rank, limit, above_rank, group, group, whole, distinct, combined, over, over, over, lag, deduplicate,
    unnest, window, window, session,
)  # fmt: skip
