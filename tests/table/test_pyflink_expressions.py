"""Methods and functions of PyFlink's expressions: each is the SQL that says the same."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest

import rekindle as r
from execnodes.core.errors import SqlError
from rekindle import Expression, JsonOnNull, TableEnvironment, col, lit
from rekindle.api.json_methods import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonValueOnEmptyOrError,
)
from tests.table.compared import same

k, v, s, a, ts = col("k"), col("v"), col("s"), col("a"), col("ts")
METHODS: list[tuple[Expression, str]] = [
    (v.log(), "LN(v)"),
    (v.log(2), "LOG(2, v)"),
    (v.cot, "COT(v)"),
    (v.sinh, "SINH(v)"),
    (v.cosh, "COSH(v)"),
    (v.tanh, "TANH(v)"),
    (v.chr, "CHR(v)"),
    (v.elt(s, "b"), "ELT(v, s, 'b')"),
    (s.unhex, "UNHEX(s)"),
    (s.concat("x"), "CONCAT(s, 'x')"),
    (s.starts_with("x"), "STARTSWITH(s, 'x')"),
    (s.ends_with("x"), "ENDSWITH(s, 'x')"),
    (s.substr(2), "SUBSTR(s, 2)"),
    (s.substr(2, 3), "SUBSTR(s, 2, 3)"),
    (s.translate("a", "b"), "TRANSLATE(s, 'a', 'b')"),
    (s.regexp_count("a"), "REGEXP_COUNT(s, 'a')"),
    (s.regexp_extract_all("a", 0), "REGEXP_EXTRACT_ALL(s, 'a', 0)"),
    (s.regexp_instr("a"), "REGEXP_INSTR(s, 'a')"),
    (s.regexp_substr("a"), "REGEXP_SUBSTR(s, 'a')"),
    (lit("a").locate(s, 2), "LOCATE('a', s, 2)"),
    (s.split(","), "SPLIT(s, ',')"),
    (s.btrim(), "BTRIM(s)"),
    (s.btrim("x"), "BTRIM(s, 'x')"),
    (s.printf(k, v), "PRINTF(s, k, v)"),
    (s.encode("UTF-8"), "ENCODE(s, 'UTF-8')"),
    (s.encode("UTF-8").decode("UTF-8"), "DECODE(ENCODE(s, 'UTF-8'), 'UTF-8')"),
    (s.url_decode(), "URL_DECODE(s)"),
    (s.url_encode(), "URL_ENCODE(s)"),
    (s.json_quote(), "JSON_QUOTE(s)"),
    (s.json_unquote(), "JSON_UNQUOTE(s)"),
    (s.is_json(), "s IS JSON"),
    (s.ltrim(), "LTRIM(s)"),
    (a.array_max(), "ARRAY_MAX(a)"),
    (a.array_except(a), "ARRAY_EXCEPT(a, a)"),
    (a.array_intersect(a), "ARRAY_INTERSECT(a, a)"),
    (a.array_sort(True, False), "ARRAY_SORT(a, TRUE, FALSE)"),
    (r.map_(s, k).map_union(r.map_(s, v)), "MAP_UNION(MAP[s, k], MAP[s, v])"),
    (s.json_value("$.a", r.DataTypes.INT()), "JSON_VALUE(s, '$.a' RETURNING INT)"),
    (
        s.json_value("$.a", "INT", JsonValueOnEmptyOrError.DEFAULT, 1, JsonValueOnEmptyOrError.ERROR),
        "JSON_VALUE(s, '$.a' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR)",
    ),
    (s.json_exists("$.a", JsonExistsOnError.TRUE), "JSON_EXISTS(s, '$.a' TRUE ON ERROR)"),
    (
        s.json_query("$.a", JsonQueryWrapper.UNCONDITIONAL_ARRAY, JsonQueryOnEmptyOrError.EMPTY_ARRAY),
        "JSON_QUERY(s, '$.a' WITH UNCONDITIONAL WRAPPER EMPTY ARRAY ON EMPTY)",
    ),
]
FUNCTIONS: list[tuple[Expression, str]] = [
    (r.current_database(), "CURRENT_DATABASE()"),
    (r.to_date(s), "TO_DATE(s)"),
    (r.to_date(s, "yyyy"), "TO_DATE(s, 'yyyy')"),
    (r.to_timestamp(s), "TO_TIMESTAMP(s)"),
    (r.convert_tz(s, "UTC", "Asia/Tokyo"), "CONVERT_TZ(s, 'UTC', 'Asia/Tokyo')"),
    (r.from_unixtime(k), "FROM_UNIXTIME(k)"),
    (r.unix_timestamp(s, "yyyy"), "UNIX_TIMESTAMP(s, 'yyyy')"),
    (r.temporal_overlaps(ts, lit(1).days, ts, lit(2).days), "(ts, INTERVAL '1' DAY) OVERLAPS (ts, INTERVAL '2' DAY)"),
    (r.map_from_arrays(a, a), "MAP_FROM_ARRAYS(a, a)"),
    (r.e(), "E()"),
    (r.log(v), "LN(v)"),
    (r.log(v, 2), "LOG(2, v)"),
    (r.atan2(k, v), "ATAN2(k, v)"),
    (r.negative(v), "- v"),
    (r.rand_integer(9, 3), "RAND_INTEGER(3, 9)"),
    (r.json_string(a), "JSON_STRING(a)"),
    (r.json_object(JsonOnNull.ABSENT, "x", k, "y", s), "JSON_OBJECT(KEY 'x' VALUE k, KEY 'y' VALUE s ABSENT ON NULL)"),
    (r.json_array(JsonOnNull.NULL, k, s), "JSON_ARRAY(k, s NULL ON NULL)"),
]
AGGREGATES: list[tuple[Expression, str]] = [
    (v.sum0, "`$SUM0`(v)"),
    (v.array_agg, "ARRAY_AGG(v)"),
    (v.percentile(0.5), "PERCENTILE(v, 0.5)"),
    (v.percentile([0.5, 1.0], k), "PERCENTILE(v, ARRAY[0.5, 1.0], k)"),
    (r.json_object_agg(JsonOnNull.NULL, lit("x"), v), "JSON_OBJECTAGG(KEY 'x' VALUE v NULL ON NULL)"),
    (r.json_array_agg(JsonOnNull.ABSENT, s), "JSON_ARRAYAGG(s ABSENT ON NULL)"),
]


def test_methods_and_functions_are_sql(env: TableEnvironment) -> None:
    expressions, texts = zip(*METHODS, *FUNCTIONS, strict=True)
    same(env, env.from_path("t").select(*expressions), f"SELECT {', '.join(texts)} FROM t")


def test_aggregates_are_sql(env: TableEnvironment) -> None:
    expressions, texts = zip(*AGGREGATES, strict=True)
    same(env, env.from_path("t").group_by(k).select(*expressions), f"SELECT {', '.join(texts)} FROM t GROUP BY k")


def test_all_columns_and_fields_of_rows(env: TableEnvironment) -> None:
    table = env.from_path("t")
    assert table.select(r.with_all_columns()).get_schema() == table.get_schema()
    assert table.select(k, col("f").flatten).get_schema().get_column_names() == ["k", "x", "y"]


def test_rows_before_and_behind(env: TableEnvironment) -> None:
    window = r.Over.partition_by(k).order_by(ts).alias("w")
    made = env.from_path("t").over_window(window).select(r.lag(v, 2).over(col("w")).alias("before"))
    assert made.get_schema().get_column_names() == ["before"]
    assert r.lead(v, 1, 0).sql == "LEAD(`v`, 1, 0)"
    assert r.current_watermark(ts).sql == "CURRENT_WATERMARK(`ts`)"
    assert r.source_watermark().sql == "SOURCE_WATERMARK()"


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda t: t.INTERVAL(t.DAY(), t.SECOND(3)), "INTERVAL SECOND"),
        (lambda t: t.INTERVAL(t.HOUR(), t.MINUTE()), "INTERVAL SECOND"),
        (lambda t: t.INTERVAL(t.YEAR(), t.MONTH()), "INTERVAL MONTH"),
        (lambda t: t.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3), "TIMESTAMP_LTZ(3)"),
    ],
)
def test_types(make: Callable[[type[r.DataTypes]], object], shown: str) -> None:
    assert str(make(r.DataTypes)) == shown


def test_properties_take_no_operands() -> None:
    with pytest.raises(SqlError, match="takes nothing") as caught:
        s.ltrim("x")
    assert "call('LTRIM'" in str(caught.value.hint)


def test_intervals_do_not_mix_months_and_days() -> None:
    with pytest.raises(SqlError, match="years and months"):
        r.DataTypes.INTERVAL(r.DataTypes.YEAR(), r.DataTypes.DAY())


@pytest.mark.parametrize(
    ("elements", "types"),
    [
        ([([1, None], {"a": 1.5})], ["ARRAY<BIGINT>", "MAP<STRING, DOUBLE>"]),
        ([(None, 1), ([[b"x"]], 2)], ["ARRAY<ARRAY<BYTES>>", "BIGINT"]),
        ([r.Row(1, r.Row(x=1, y="a"))], ["BIGINT", "ROW<`x` BIGINT, `y` STRING>"]),
        ([((1, "a"), datetime.timedelta(days=3))], ["ROW<`_1` BIGINT, `_2` STRING>", "INTERVAL SECOND"]),
        ([r.row(1, "abc"), r.row(2, "d")], ["INT NOT NULL", "VARCHAR(3) NOT NULL"]),
        ([r.lit(1), r.lit(None, "INT")], ["INT"]),
    ],
    ids=str,
)
def test_types_of_elements(env: TableEnvironment, elements: list[object], types: list[str]) -> None:
    assert [str(each) for each in env.from_elements(elements).get_schema().get_column_data_types()] == types


def test_declared_types_of_elements_stay(env: TableEnvironment) -> None:
    t = r.DataTypes
    schema = t.ROW([t.FIELD("a", t.BIGINT()), t.FIELD("b", t.STRING().not_null())])
    for elements in ([(1, "x"), (None, "y")], [(1, "x")], [r.row(1, "x"), r.row(2, "yz")]):
        assert env.from_elements(elements, schema).get_schema().get_column_data_types() == [
            t.BIGINT(),
            t.STRING().not_null(),
        ]
    with pytest.raises(SqlError, match="STRING NOT NULL holds no None"):
        env.from_elements([(1, None)], schema)


def test_names_of_elements(env: TableEnvironment) -> None:
    assert env.from_elements([{"b": 1, "a": "x"}]).get_schema().get_column_names() == ["a", "b"]
    assert env.from_elements([r.Row(b=1, a="x")]).get_schema().get_column_names() == ["a", "b"]
    assert env.from_elements([r.Row(b=1, a="x")], ["c", "d"]).get_schema().get_column_names() == ["c", "d"]
    assert env.from_elements([r.row(1, "x")]).get_schema().get_column_names() == ["f0", "f1"]
    assert env.from_elements([r.row(1, "x")], ["c", "d"]).get_schema().get_column_names() == ["c", "d"]
