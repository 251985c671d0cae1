"""Random queries by event time over rows of which none is late: whatever the mode and the micro-batches, the same rows.

Conditions drop most rows, also all of them: those that they drop move event time, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

MINUTES = 12
"""By how much a row may come later than one of a later time."""
_COLUMNS = "id BIGINT, k STRING, v BIGINT, s STRING, tags ARRAY<BIGINT>, ts TIMESTAMP(3)"
_TABLE = (
    f"CREATE TABLE {{}} ({_COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '{MINUTES}' MINUTE)"
    " WITH ('connector' = 'filesystem', 'path' = '${{dir}}/input/{}.jsonl', 'format' = 'json');"
)
TABLES = "\n".join((
    *(_TABLE.format(each, each) for each in ("a", "b")),
    "CREATE FUNCTION liked AS 'tests.differential.functions:liked' LANGUAGE PYTHON;",
    "CREATE VIEW few AS SELECT id, k, v, s, tags, ts FROM a WHERE s = '403';",
    "CREATE VIEW both AS SELECT * FROM few UNION ALL SELECT id, k, v, s, tags, ts FROM b WHERE v > 0;",
))  # fmt: skip
_START = datetime(2024, 2, 28, 23, 0)
_CONDITIONS = (
    "s = '403'", "s <> '200'", "s LIKE '4%'", "s IN ('403', '500')", "v IS NOT NULL", "v > 1", "v BETWEEN 1 AND 2",
    "k IS NULL", "k = 'a' OR v = 3", "NOT (s = '200' AND v IS NULL)", "CASE WHEN k = 'b' THEN v > 0 ELSE s = '403' END",
    "ts > TIMESTAMP '2024-02-28 23:40:00'", "ts < TIMESTAMP '2024-02-29 00:10:00' AND s = '403'", "id > 1000", "1 = 2",
    "liked(k)", "liked(s) AND v > 0", "CHAR_LENGTH(s) = 3", "COALESCE(v, 0) + id > 5", "MOD(id, 7) = 3",
    "CARDINALITY(tags) > 0", "tags[1] = 3",
)  # fmt: skip
_CALLS = ("COUNT(*)", "SUM(v)", "MAX(v)", "MIN(id)", "COUNT(DISTINCT s)", "SUM(v) FILTER (WHERE s = '403')", "MAX(s)")


def write(random: Random, folder: Path) -> None:
    """Files of the two tables; each row has a time of its own."""
    (folder / "input").mkdir(parents=True)
    number = random.randint(20, 50)
    minutes = random.sample(range(number * 3), number)
    for table, mine in (("a", minutes[: number // 2]), ("b", minutes[number // 2 :])):
        coming = sorted(mine, key=lambda minute: minute + random.random() * (MINUTES - 1))
        lines = "".join(json.dumps(_row(random, minute)) + "\n" for minute in coming)
        (folder / "input" / f"{table}.jsonl").write_text(lines, encoding="utf-8")


def _row(random: Random, minute: int) -> dict[str, object]:
    return {
        "id": minute,
        "k": random.choice(("a", "b", "cc", None)),
        "v": random.choice((None, 0, 1, 2, 3, -4)),
        "s": random.choice(("200", "200", "403", "500", "")),
        "tags": random.choice((None, [], [1], [2, None], [3, 1, 3])),
        "ts": (_START + timedelta(minutes=minute)).isoformat(" "),
    }


def query(random: Random) -> str:
    """Any."""
    return random.choice(FAMILIES)(random)


def _where(random: Random) -> str:
    if random.random() < 0.2:
        return ""
    return f" WHERE {' AND '.join(random.sample(_CONDITIONS, random.choice((1, 1, 2))))}"


def _source(random: Random) -> str:
    """Something with id, k, v, s and ts, in brackets or by name."""
    table, columns = random.choice(("a", "b")), "id, k, v, s, ts"
    return random.choice((
        table, "few", "both", f"(SELECT {columns}, tags FROM {table}{_where(random)})",
        f"(SELECT id, k, v, UPPER(s) AS s, ts, tags FROM {random.choice(('a', 'both'))}{_where(random)})",
        f"(SELECT {columns}, tags FROM a{_where(random)} UNION ALL SELECT {columns}, tags FROM b{_where(random)})",
        f"(SELECT id, k, x AS v, s, ts, tags FROM {table} CROSS JOIN UNNEST(tags) AS u (x) WHERE x > 1)",
        f"(SELECT id, k, x AS v, s, ts, tags FROM {table} LEFT JOIN UNNEST(tags) AS u (x) ON TRUE{_where(random)})",
    ))  # fmt: skip


def _once(random: Random) -> str:
    """Rows of which none has the time of another."""
    while "UNNEST" in (found := _source(random)):
        pass
    return found


def _calls(random: Random) -> str:
    return ", ".join(f"{each} AS a{at}" for at, each in enumerate(random.sample(_CALLS, random.randint(1, 3))))


def _length(random: Random) -> tuple[int, int]:
    step = random.choice((5, 7, 20))
    return step, step * random.choice((2, 3))


def _windows(random: Random) -> str:
    """A windowing function over a view or a table: sources in brackets are one of its forms, too."""
    step, size = _length(random)
    source = random.choice(("TABLE a", "TABLE few", "TABLE both", _source(random)))
    source = f"(SELECT * FROM {source})" if source in ("a", "b", "few", "both") else source
    data = f"{source}, DESCRIPTOR(ts)"
    return random.choice((
        f"TABLE(TUMBLE({data}, INTERVAL '{step}' MINUTE))",
        f"TABLE(HOP({data}, INTERVAL '{step}' MINUTE, INTERVAL '{size}' MINUTE))",
        f"TABLE(CUMULATE({data}, INTERVAL '{step}' MINUTE, INTERVAL '{size}' MINUTE))",
    ))  # fmt: skip


def window(random: Random) -> str:
    key = random.choice((", k", ", s", ""))
    having = random.choice(("", "", " HAVING COUNT(*) > 1"))
    bounds = "window_start, window_end"
    return (
        f"SELECT {bounds}{key}, {_calls(random)} FROM {_windows(random)}{_where(random)} GROUP BY {bounds}{key}{having}"
    )


def session(random: Random) -> str:
    table, gap = random.choice(("a", "few", "both")), random.choice((2, 5, 9))
    keys = random.choice(("k", "k, s"))
    windows = f"TABLE(SESSION(TABLE {table} PARTITION BY {keys}, DESCRIPTOR(ts), INTERVAL '{gap}' MINUTE))"
    shown = f"{keys}, window_start, window_end"
    return f"SELECT {shown}, {_calls(random)} FROM {windows}{_where(random)} GROUP BY {shown}"


def cascade(random: Random) -> str:
    inner = (
        f"SELECT k, window_time AS rt, SUM(v) AS v FROM {_windows(random)}{_where(random)}"
        " GROUP BY k, window_start, window_end, window_time"
    )
    filtered = random.choice(("", " WHERE v > 1", " WHERE k = 'a'"))
    return (
        "SELECT window_start, window_end, COUNT(*) AS c, SUM(v) AS v"
        f" FROM TABLE(TUMBLE((SELECT * FROM ({inner}){filtered}), DESCRIPTOR(rt), INTERVAL '60' MINUTE))"
        " GROUP BY window_start, window_end"
    )


def group_window(random: Random) -> str:
    step, size = _length(random)
    kind, length = random.choice((
        ("TUMBLE", f"INTERVAL '{step}' MINUTE"), ("SESSION", f"INTERVAL '{step}' MINUTE"),
        ("HOP", f"INTERVAL '{step}' MINUTE, INTERVAL '{size}' MINUTE"),
        ("HOP", f"INTERVAL '4' MINUTE, INTERVAL '{step}' MINUTE"),
    ))  # fmt: skip
    call = f"(ts, {length})"
    return (
        f"SELECT k, {kind}_START{call} AS ws, {kind}_END{call} AS we, {_calls(random)}"
        f" FROM {_source(random)}{_where(random)} GROUP BY k, {kind}{call}"
    )


def over(random: Random) -> str:
    frame = random.choice((
        "", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "RANGE BETWEEN INTERVAL '9' MINUTE PRECEDING AND CURRENT ROW",
    ))  # fmt: skip
    window = f"OVER ({random.choice(('', 'PARTITION BY k '))}ORDER BY ts {frame})"
    calls = f"SUM(v) {window} AS t, COUNT(*) {window} AS c"
    below = f"SELECT id, k, s, {calls} FROM {_once(random)}{_where(random)}"
    return f"SELECT * FROM ({below}){random.choice(('', ' WHERE c > 1', ' WHERE id > 9'))}"


def deduplicate(random: Random) -> str:
    way, shown = random.choice(("ASC", "DESC")), random.choice(("", " AND v > 0", " AND s = '403'"))
    return (
        f"SELECT id, k, v, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {random.choice(('k', 'k, s'))} ORDER BY ts"
        f" {way}) AS rn FROM {_once(random)}{_where(random)}) WHERE rn = 1{shown}"
    )


def ordered(random: Random) -> str:
    return f"SELECT id, k, ts FROM {_source(random)}{_where(random)} ORDER BY ts, id"


def window_rank(random: Random) -> str:
    inner = (
        f"SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end{random.choice(('', ', k'))} ORDER BY"
        f" {random.choice(('ts', 'ts DESC', 'v DESC, id', 's, id DESC'))}) AS rn"
        f" FROM {_windows(random)}{_where(random)}"
    )
    return f"SELECT window_start, window_end, id, k FROM ({inner}) WHERE rn <= {random.randint(1, 2)}"


def window_join(random: Random) -> str:
    """Of rows of each side that are few enough; or rows that have a partner, or none."""
    windows, bounds = _windows(random), "l.window_start = r.window_start AND l.window_end = r.window_end"
    condition = f"{random.choice(('l.k = r.k AND ', 'l.k IS NOT DISTINCT FROM r.k AND ', 'l.v > r.v AND '))}{bounds}"
    sides = [f"(SELECT id, k, v, window_start, window_end FROM {windows}{_where(random)}) AS {each}" for each in "lr"]
    if random.random() < 0.3:
        exists = f"{random.choice(('', 'NOT '))}EXISTS (SELECT * FROM {sides[1]} WHERE {condition})"
        return f"SELECT id, window_end FROM {sides[0]} WHERE {exists}"
    kind = random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    return (
        f"SELECT l.id, r.id AS rid, l.window_end, r.window_end AS re FROM {sides[0]} {kind} {sides[1]} ON {condition}"
    )


def interval_join(random: Random) -> str:
    """Of rows of each side; or windows of those that have a time."""
    low = random.randint(-9, 4)
    high = low + random.choice((0, 6, 20))
    keys = random.choice(("l.k = r.k AND ", "l.k IS NOT DISTINCT FROM r.k AND ", "l.v > r.v AND ", ""))
    minute = "l.ts + INTERVAL '1' MINUTE *"
    condition = f"{keys}r.ts BETWEEN {minute} {low} AND {minute} {high}"
    sides = [f"(SELECT id, k, v, ts FROM {_source(random)}{_where(random)}) AS {each}" for each in "lr"]
    kinds = (("JOIN", "lr"), ("LEFT JOIN", "l"), ("RIGHT JOIN", "r"), ("FULL JOIN", ""))
    kind, whole_sides = random.choice(kinds)
    joined = f"SELECT l.id, r.id AS rid, l.k, r.v, {{}} FROM {sides[0]} {kind} {sides[1]} ON {condition}"
    if not whole_sides or random.random() < 0.4:
        return joined.format("l.ts, r.ts AS rts")
    timed = joined.format(f"{random.choice(whole_sides)}.ts AS ts")
    return (
        f"SELECT window_start, {_calls(random)} FROM TABLE(TUMBLE((SELECT *, k AS s FROM ({timed})), DESCRIPTOR(ts), "
        "INTERVAL '7' MINUTE)) GROUP BY window_start, window_end"
    )


def whole(random: Random) -> str:
    """Not by time, beside what is."""
    return f"SELECT k, {_calls(random)} FROM {_source(random)}{_where(random)} GROUP BY k"


FAMILIES: tuple[Callable[[Random], str], ...] = (
    window, window, window, session, cascade, group_window, over, over, deduplicate, ordered, window_rank,
    window_join, interval_join, interval_join, whole,
)  # fmt: skip
