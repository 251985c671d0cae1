"""The rows that functions are recorded over: for each type its edges, each column beside a twin that is turned.

`edge_values.json` names for each column its type, Spark's type, and its values as Spark texts or, of texts, as they
are. It is only appended to: records hold a value for each row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROWS = 24
_FILE = Path(__file__).with_name("edge_values.json")
_TURNED = 5


@cache
def table() -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Column to its SQL type, Spark's type and the Spark text of its value in each row; ``_b`` names a twin."""
    found = {"k": ("INT NOT NULL", "INT", tuple(str(at + 1) for at in range(ROWS)))}
    for name, sql, spark, values in _columns():
        found[name] = (sql, spark, tuple(values[at % len(values)] for at in range(ROWS)))
        # A value meets another one in each round.
        turned = (values[(at * _TURNED + 1 + at // len(values)) % len(values)] for at in range(ROWS))
        found[f"{name}_b"] = (sql, spark, tuple(turned))
    return found


def ddl() -> str:
    """The table for SQL; it is never read."""
    columns = ", ".join(f"`{name}` {sql}" for name, (sql, _, _) in table().items())
    return f"CREATE TABLE T ({columns}) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')"


def rows_text() -> str:
    """Spark SQL that gives the rows."""
    columns = table()
    rows = ", ".join("(" + ", ".join(values[at] for _, _, values in columns.values()) + ")" for at in range(ROWS))
    casts = ", ".join(f"CAST(`{name}` AS {spark}) AS `{name}`" for name, (_, spark, _) in columns.items())
    return f"SELECT {casts} FROM VALUES {rows} AS t({', '.join(f'`{name}`' for name in columns)})"


def _columns() -> Iterator[tuple[str, str, str, list[str]]]:
    for name, each in json.loads(_FILE.read_text(encoding="utf-8")).items():
        values = each["values"] if "values" in each else map(_quoted, each["texts"])
        yield name, each["sql"], each["spark"], [value or "NULL" for value in values]


def _quoted(text: str | None) -> str | None:
    """As bytes, which no rule of escapes concerns."""
    return text if text is None else f"CAST(X'{text.encode().hex()}' AS STRING)"
