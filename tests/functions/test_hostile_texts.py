"""What a stranger writes into constants, names and patterns comes back from Spark as it was written."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.expressions import Expression, FieldAccess, InputRef, Literal
from execnodes.core.types import INT, STRING, Field, char, parse_type, row
from execnodes.functions import lower, resolve
from execnodes.lowering.spark_sql import literal
from execnodes.lowering.stream import quote
from rekindle.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOSTILE = (
    *("'", "''", "\\", "\\'", "\\\\'", "' OR '1'='1", "${env:HOME}", "${spark.app.name}", "$", "${", "{0}", "{}"),
    *("`", "``", "a`b", "--", "/* x */", "\n", "\r\n", "\t", "\0", "\0" + "12", "\\u0041", "\\n", "\u2028", "ẞ𝄞", ""),
    *("rk_active", "rk_wm", "rk_fn_x", "%", "_", "\x01", "]", "java_method('java.lang.System', 'exit', '1')"),
)
NAMES = tuple(each for each in HOSTILE if each and "\0" not in each)
"""Names cannot hold NUL: plans with such names are refused."""
VALUES: tuple[tuple[Any, str, Any], ...] = (
    (True, "BOOLEAN", True),
    (-128, "TINYINT", -128),
    (-(2**31), "INT", -(2**31)),
    (-(2**63), "BIGINT", -(2**63)),
    ("-12.50", "DECIMAL(4, 2)", Decimal("-12.50")),
    ("1E+3", "DECIMAL(38, 0)", Decimal(1000)),
    ("1e-320", "DOUBLE", 1e-320),
    ("-inf", "DOUBLE", float("-inf")),
    ("0.1", "FLOAT", 0.10000000149011612),
    ("0001-01-01", "DATE", dt.date(1, 1, 1)),
    ("23:59:59.999999999", "TIME(9)", 86_399_999),
    ("9999-12-31 23:59:59.999999", "TIMESTAMP(6)", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ("00FF", "BYTES", bytearray(b"\x00\xff")),
    (-1, "INTERVAL SECOND", -1),
    (-1, "INTERVAL MONTH", -1),
    (None, "ROW<`a'b` INT>", None),
)


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    return prepare(spark, 2, {})


def text(value: str) -> Literal:
    return Literal(value=value, type=char(len(value)))


@pytest.mark.spark
def test_constants_come_back(session: SparkSession) -> None:
    given = [literal(each, STRING) for each in HOSTILE] + [literal(value, parse_type(t)) for value, t, _ in VALUES]
    (found,) = session.range(1).selectExpr(*(f"{each} AS c{at}" for at, each in enumerate(given))).collect()
    assert list(found) == [*HOSTILE, *(wanted for _, _, wanted in VALUES)]


@pytest.mark.spark
def test_names_are_names(session: SparkSession) -> None:
    """Columns and fields that are called like variables, code or comments are found, and no other."""
    columns = [f"{at} AS {quote(name)}" for at, name in enumerate(NAMES)]
    frame = session.range(1).selectExpr(*columns)
    (found,) = frame.selectExpr(*(f"{quote(name)} AS c{at}" for at, name in enumerate(NAMES))).collect()
    assert list(found) == list(range(len(NAMES)))
    whole = row(*(Field(name, INT) for name in NAMES))
    source = session.range(1).selectExpr(
        f"named_struct({', '.join(f'{literal(n, STRING)}, {i}' for i, n in enumerate(NAMES))}) AS r"
    )
    reads: list[Expression] = [FieldAccess(name=n, expr=InputRef(input_index=0, type=whole), type=INT) for n in NAMES]
    texts = [lower(each, ["r"], "UTC") for each in reads]
    (found,) = source.selectExpr(*(f"{each} AS c{at}" for at, each in enumerate(texts))).collect()
    assert list(found) == list(range(len(NAMES)))


@pytest.mark.spark
def test_patterns_match_themselves(session: SparkSession) -> None:
    """Functions that take patterns and formats as constants: LIKE, REPLACE, TRIM, CONCAT_WS, SPLIT_INDEX, POSITION."""
    made: list[Expression] = []
    wanted: list[object] = []
    for each in HOSTILE:
        it, ends = text(each), text(f"<{each}>")
        made += [resolve("CONCAT_WS", (it, text("a"), text("b"))), resolve("POSITION", (it, ends))]
        wanted += [f"a{each}b", 2 if each else 1]
        made += [resolve("REPLACE", (ends, it, text("x"))), resolve("LIKE", (it, text("%")))]
        wanted += ["<x>" if each else "x<x>x", True]
        made.append(
            resolve("DATE_FORMAT", (text("2020-01-31 00:00:00"), text("'" + each.replace("'", "''") + "'yyyy")))
        )
        # An empty pair of quotes is a quote to Java.
        wanted.append((each or "'") + "2020")
    texts = [lower(one, [], "UTC") for one in made]
    (found,) = session.range(1).selectExpr(*(f"{each} AS c{at}" for at, each in enumerate(texts))).collect()
    assert list(found) == wanted
