"""The words of Flink's SQL, readable without a parser."""

from __future__ import annotations

RESERVED = frozenset(
    """
    ALL AND AS BETWEEN BY CASE CAST CREATE CROSS DISTINCT ELSE END EXCEPT EXISTS FALSE FETCH FOR FROM FULL
    GROUP HAVING IN INNER INSERT INTERSECT INTO IS JOIN LATERAL LEFT LIKE LIMIT MATCH_RECOGNIZE MINUS NATURAL NOT NULL
    OFFSET ON OR ORDER OUTER OVER PARTITION QUALIFY RIGHT SELECT SET SIMILAR TABLE TABLESAMPLE THEN TRUE UNION UNKNOWN
    UNNEST USING VALUES WHEN WHERE WINDOW WITH
    """.split()  # noqa: SIM905
)
"""Words that begin or end a part of a statement, so that they are names only in backticks."""

BEGINNINGS = (
    "SELECT", "WITH", "VALUES", "ADD", "ALTER", "BEGIN", "COMPILE", "CREATE", "DESC", "DESCRIBE", "DROP", "END",
    "EXECUTE", "EXPLAIN", "INSERT", "LOAD", "RESET", "SET", "SHOW", "STOP", "UNLOAD", "USE",
)  # fmt: skip
"""The words a statement may begin with."""

TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "REAL", "DOUBLE", "DECIMAL", "DEC",
    "NUMERIC", "CHAR", "CHARACTER", "VARCHAR", "STRING", "BINARY", "VARBINARY", "BYTES", "DATE", "TIME", "TIMESTAMP",
    "TIMESTAMP_LTZ", "INTERVAL", "ARRAY", "MULTISET", "MAP", "ROW", "NULL",
)  # fmt: skip
"""The words a type may begin with."""

LISTS = ("TABLES", "VIEWS", "DATABASES", "CATALOGS", "FUNCTIONS", "JOBS", "MODULES", "JARS", "COLUMNS")
"""What SHOW lists."""
