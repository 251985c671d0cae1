"""Calls that rules make and no SQL writes, as plans hold them; and versions that are not recorded, and why."""

from __future__ import annotations

from typing import Any

from tests.net.edge_values import table

_RENAMED = "plans hold another function in its place, which the planner resolves it to"
_CLOCK = "reads the clock or the watermark: another value each time"
_DRAWN = "draws its values: another one each time"
_ROWS = "gives rows, not a value: recorded with the correlate nodes"
_REFUSES = "refuses operands that the version before takes; all calls are of that one"
UNRECORDED = {
    **{
        f"${name}$1": _RENAMED
        for name in (
            *("PLUS_PREFIX", "NOT BETWEEN", "NOT BETWEEN SYMMETRIC", "NULLIF", "IS NOT JSON", "NOT LIKE"),
            *("NOT SIMILAR TO", "TIMESTAMPADD", "YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH"),
            *("DAYOFWEEK", "HOUR", "MINUTE", "SECOND", "CEILING"),
        )
    },
    **{f"${name}": _RENAMED for name in ("CEILING$2", "CEILING$3", "NOT LIKE$2", "NULLIF$2")},
    **{
        f"${name}": _REFUSES
        for name in (
            *("<$2", "<=$2", ">$2", ">=$2", "BETWEEN$2", "BETWEEN SYMMETRIC$2", "NOT BETWEEN$2"),
            *("NOT BETWEEN SYMMETRIC$2", "GREATEST$2", "LEAST$2", "ARRAY_EXCEPT$2", "ARRAY_INTERSECT$2"),
            *("ARRAY_UNION$2", "ARRAY_JOIN$2", "ARRAY_MAX$2", "ARRAY_MIN$2", "ARRAY_SORT$3"),
        )
    },
    **{
        f"${name}$1": _CLOCK
        for name in (
            *("CURRENT_TIMESTAMP", "NOW", "CURRENT_ROW_TIMESTAMP", "PROCTIME", "LOCALTIMESTAMP", "CURRENT_DATE"),
            *("LOCALTIME", "CURRENT_TIME", "CURRENT_WATERMARK"),
        )
    },
    **{f"${name}$1": _DRAWN for name in ("RAND", "RAND_INTEGER", "UUID")},
    **{f"${name}$1": _ROWS for name in ("UNNEST_ROWS", "UNNEST_ROWS_WITH_ORDINALITY")},
}
"""Function version to the reason; every other one of a release has a record."""


def _made(name: str, column: str, result: str, *constants: int) -> dict[str, Any]:
    operands = [{"kind": "INPUT_REF", "inputIndex": 0, "type": table()[column][0]}]
    literals = [{"kind": "LITERAL", "value": each, "type": "INT NOT NULL"} for each in constants]
    call = {"kind": "CALL", "internalName": name, "operands": [*operands, *literals], "type": result}
    written = ", ".join([column, *map(str, constants)])
    return {"sql": f"{name}({written}) AS {result}", "columns": [column], "expression": call}


CALLS = (
    *(_made("$HASH_BUCKET$1", each, "INT", 16) for each in ("s", "i", "b", "d", "x", "dt", "ts6", "bo", "by1")),
    _made("$RAND$2", "i", "DOUBLE"),
    _made("$RAND_INTEGER$2", "i", "INT", 100),
    _made("$REINTERPRET$1", "ts6", "TIMESTAMP(3)"),
    _made("$REINTERPRET$1", "ltz", "TIMESTAMP_LTZ(6)"),
    _made("$REINTERPRET$1", "s", "VARCHAR(9)"),
)
"""Each with the columns it reads, as `work.calls` finds those of SQL."""
