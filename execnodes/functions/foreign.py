"""Functions of other systems, and those that stand elsewhere in Flink's SQL: what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

_WINDOW = "It stands beside GROUP BY {0}(…); a window table function has the column {1}."
_ADD = "Write TIMESTAMPADD(DAY, 1, time), or time + INTERVAL '1' DAY."
_BETWEEN = "Write TIMESTAMPDIFF(DAY, from, to)."
_JOINED = "Write LISTAGG(text, separator)."
_MIDDLE = "Write PERCENTILE(value, 0.5)."
_ROWS = "Write CROSS JOIN UNNEST(collection) AS t (x) in FROM."
_FLOOR = "Write FLOOR(time TO {0})."
_UNITS = (
    "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY", "MILLENNIUM",
)  # fmt: skip
_WHEN = "Write CASE WHEN … THEN … END."

OF_OTHERS = {
    **{
        f"{window}_{part}": _WINDOW.format(window, column)
        for window in ("TUMBLE", "HOP", "SESSION")
        for part, column in (
            ("START", "window_start"), ("END", "window_end"), ("ROWTIME", "window_time"), ("PROCTIME", "window_time")
        )
    },
    **dict.fromkeys(("DATEADD", "DATE_ADD", "ADDDATE", "DATE_SUB", "ADD_MONTHS"), _ADD),
    **dict.fromkeys(("DATEDIFF", "DATE_DIFF", "MONTHS_BETWEEN"), _BETWEEN),
    **dict.fromkeys(("DATE_TRUNC", "TIMESTAMP_TRUNC", "TIME_BUCKET"), _FLOOR.format("DAY")),
    **dict.fromkeys(("STRING_AGG", "GROUP_CONCAT"), _JOINED),
    **dict.fromkeys(("MEDIAN", "PERCENTILE_CONT", "PERCENTILE_DISC", "PERCENTILE_APPROX", "QUANTILE"), _MIDDLE),
    **dict.fromkeys(("EXPLODE", "POSEXPLODE", "FLATTEN", "GENERATE_SERIES"), _ROWS),
    **dict.fromkeys(("NVL", "ISNULL", "IFNA"), "Write COALESCE(value, other)."),
    **dict.fromkeys(("SWITCH", "NVL2", "IIF"), _WHEN),
    **dict.fromkeys(("APPROX_DISTINCT", "UNIQ"), "Write COUNT(DISTINCT value)."),
    **dict.fromkeys(("ANY_VALUE", "ARBITRARY"), "Write FIRST_VALUE(value) or MAX(value)."),
    **dict.fromkeys(("COLLECT_LIST", "COLLECT_SET"), "Write ARRAY_AGG(value) or COLLECT(value)."),
    "FIRST": "Write FIRST_VALUE(value).",
    "LAST": "Write LAST_VALUE(value).",
    "LEN": "Write CHAR_LENGTH(text).",
    "LENGTH": "Write CHAR_LENGTH(text).",
    "STRFTIME": "Write DATE_FORMAT(time, pattern).",
    "TO_CHAR": "Write DATE_FORMAT(time, pattern).",
    "GETDATE": "Write CURRENT_TIMESTAMP.",
    "REGEXP_LIKE": "Write REGEXP(text, pattern).",
    "REGEXP_MATCHES": "Write REGEXP(text, pattern).",
    "JSON_EXTRACT": "Write JSON_VALUE(text, path).",
    "GET_JSON_OBJECT": "Write JSON_VALUE(text, path).",
    "SIZE": "Write CARDINALITY(collection).",
    "ARRAY_LENGTH": "Write CARDINALITY(collection).",
}  # fmt: skip
"""By their names; asked only where there is no such function here."""


def instead_of(name: str, texts: Iterable[str] = ()) -> str | None:
    """What to write instead of a function; `texts`: constants among its arguments. None where nothing is known."""
    hint = OF_OTHERS.get(name.upper())
    unit = next((text.upper() for text in texts if text.upper() in _UNITS), None)
    return _FLOOR.format(unit) if unit is not None and hint == OF_OTHERS["DATE_TRUNC"] else hint
