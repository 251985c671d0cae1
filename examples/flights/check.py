"""The same four tables from the published CSV files, in plain DuckDB; nothing of Rekindle takes part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from examples.flights.prepare import Prepared

_FLIGHTS = """
CREATE TEMP TABLE source AS
SELECT (row_number() OVER ()) - 1 AS id, make_timestamp(year, month, day, hour, minute, 0.0) AS scheduled, carrier,
  tailnum, origin, dest, flight, dep_delay, arr_delay, distance
FROM read_csv('{path}', nullstr = 'NA')
"""
_PLANES = "CREATE TEMP TABLE source_planes AS SELECT * FROM read_csv('{path}', nullstr = 'NA')"
QUERIES = {
    "hourly_delays": """
        SELECT origin, date_trunc('hour', scheduled) AS window_start, count(*) AS flights,
          count(*) FILTER (WHERE dep_delay IS NULL) AS cancelled, sum(dep_delay)::INTEGER AS delay_total,
          sum(dep_delay)::DOUBLE / count(dep_delay) AS delay_average, max(dep_delay)::INTEGER AS delay_worst
        FROM source GROUP BY ALL""",
    "carrier_totals": """
        SELECT carrier, count(DISTINCT coalesce(tailnum, '')) AS aircraft, count(*) AS flights,
          count(*) FILTER (WHERE dep_delay IS NULL) AS cancelled, sum(distance)::BIGINT AS miles,
          (SELECT max(n) FROM (
            SELECT count(*) AS n FROM source AS s WHERE s.carrier = source.carrier GROUP BY s.tailnum
          )) AS busiest
        FROM source GROUP BY carrier""",
    "latest_flights": """
        SELECT tailnum, last.id, last.scheduled, last.carrier, last.flight::INTEGER AS flight, last.origin, last.dest
        FROM (
          SELECT tailnum, max_by(source, (scheduled, id)) AS last FROM source WHERE tailnum IS NOT NULL GROUP BY tailnum
        )""",
    "flights_with_planes": """
        SELECT f.id, f.scheduled, f.tailnum, p.manufacturer, p.model, p.seats::INTEGER AS seats
        FROM source AS f, source_planes AS p WHERE f.tailnum = p.tailnum""",
}
"""Table to the query that must give the same rows."""


@dataclass(frozen=True)
class Comparison:
    """One table, as Rekindle left it, and as it should be."""

    table: str
    rows: int
    expected: int
    lacking: int
    surplus: int

    @property
    def equal(self) -> bool:
        """Whether all is well."""
        return self.rows == self.expected and not self.lacking and not self.surplus


def open_result(work: Path, prepared: Prepared) -> duckdb.DuckDBPyConnection:
    """A connection that sees the result (as `result.<table>`) and the published files."""
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{work / 'result.duckdb'}' AS result (READ_ONLY)")
    connection.execute("SET preserve_insertion_order = true")
    connection.execute(_FLIGHTS.format(path=prepared.raw_flights))
    connection.execute(_PLANES.format(path=prepared.raw_planes))
    return connection


def compare(connection: duckdb.DuckDBPyConnection) -> Iterator[Comparison]:
    """Every table against its query."""
    for table, query in QUERIES.items():
        connection.execute(f"CREATE OR REPLACE TEMP TABLE expected AS {query}")
        columns = ", ".join(f'"{name}"' for name, *_ in connection.execute("DESCRIBE expected").fetchall())
        ours = f"SELECT {columns} FROM result.{table}"
        lacking = _count(connection, f"SELECT * FROM expected EXCEPT ALL ({ours})")
        surplus = _count(connection, f"{ours} EXCEPT ALL (SELECT * FROM expected)")
        rows, expected = _count(connection, ours), _count(connection, "SELECT * FROM expected")
        yield Comparison(table, rows, expected, lacking, surplus)


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    found = connection.execute(f"SELECT count(*) FROM ({query})").fetchone()
    assert found is not None
    return int(found[0])
