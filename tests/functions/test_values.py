"""Values of functions that the oracle's SELECT lists do not show: each table is evaluated in one go."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import INTERVAL_DAY_TIME
from tests.functions.evaluator import Columns, Evaluator, cast, f, try_cast, typed

pytestmark = pytest.mark.spark
Table = dict[str, tuple[Expression, Any]]


def text(value: str | None) -> Expression:
    return typed(value, "STRING")


def ts(value: str | None, precision: int = 3) -> Expression:
    return typed(value, f"TIMESTAMP({precision})")


def date(value: str | None) -> Expression:
    return typed(value, "DATE")


def at(value: str) -> Expression:
    return typed(f"{value:0>5}:00", "TIME(0)")


def hours(count: int) -> Expression:
    return Literal(value=count * 3_600_000, type=INTERVAL_DAY_TIME.not_null())


def double(value: str | None) -> Expression:
    return typed(value, "DOUBLE")


def ints(*members: int | None) -> Expression:
    return f("ARRAY", *members)


NOTHING = text(None)
CASTS = {
    "text to int": (try_cast(text("12.7"), "INT"), 12),
    "blanks around an int": (try_cast(text(" 12 "), "INT"), 12),
    "no exponent in an int": (try_cast(text("1e2"), "INT"), None),
    "exponent in a double": (try_cast(text("1e2"), "DOUBLE"), 100.0),
    "exponent in a decimal": (try_cast(text("1e2"), "DECIMAL(6, 1)"), "100.0"),
    "int too large": (try_cast(text("3000000000"), "INT"), None),
    "one odd character is a zero": (try_cast(text("t"), "DECIMAL(6, 1)"), "0.0"),
    "two odd characters are not": (try_cast(text("xy"), "DECIMAL(6, 1)"), None),
    "decimal rounds half up": (cast(text("-0.45"), "DECIMAL(3, 1)"), "-0.5"),
    "boolean words": (try_cast(text("YES"), "BOOLEAN"), True),
    "boolean letters": (try_cast(text("t"), "BOOLEAN"), True),
    "boolean digits": (try_cast(text("0"), "BOOLEAN"), False),
    "no boolean": (try_cast(text("maybe"), "BOOLEAN"), None),
    "no such date": (try_cast(text("2023-02-29"), "DATE"), None),
    "clipped timestamp": (try_cast(text("2023-02-29"), "TIMESTAMP(3)"), "2023-02-28 00:00:00.000"),
    "year alone": (try_cast(text("12"), "DATE"), "0012-01-01"),
    "hour alone": (try_cast(text("12"), "TIME(0)"), "12:00:00"),
    "T between": (try_cast(text("2024-02-29T12:34:56"), "TIMESTAMP(3)"), None),
    "T between is no date": (try_cast(text("2024-02-29T12:34:56"), "DATE"), None),
    "no seconds, date": (try_cast(text("2024-02-29 12:34"), "DATE"), "2024-02-29"),
    "no seconds, timestamp": (try_cast(text("2024-02-29 12:34"), "TIMESTAMP(3)"), None),
    "single digits": (try_cast(text("2024-2-9 1:2:3.5"), "TIMESTAMP(3)"), "2024-02-09 01:02:03.500"),
    "fraction is cut": (try_cast(text("2024-02-29 12:34:56.789999"), "TIMESTAMP(3)"), "2024-02-29 12:34:56.789"),
    "time without trailing zeros": (cast(typed("12:34:56.500", "TIME(3)"), "STRING"), "12:34:56.5"),
    "time with fraction": (try_cast(text("12:34:56.789"), "TIME(3)"), "12:34:56.789"),
    "text to char": (cast(text("ab"), "CHAR(4)"), "ab  "),
    "text to varchar": (cast(text("abcd"), "VARCHAR(2)"), "ab"),
    "timestamp prints its digits": (cast(ts("2024-01-01 00:00:00.5"), "STRING"), "2024-01-01 00:00:00.500"),
    "timestamp(0)": (cast(ts("2024-01-01 00:00:00", 0), "STRING"), "2024-01-01 00:00:00"),
    "small decimal": (cast(typed("0.00000010", "DECIMAL(10, 8)"), "STRING"), "0.00000010"),
    "negative small decimal": (cast(typed("-0.00000001", "DECIMAL(10, 8)"), "STRING"), "-0.00000001"),
    "zero decimal": (cast(typed("0.00000000", "DECIMAL(10, 8)"), "STRING"), "0.00000000"),
    "array prints": (cast(ints(1, None, 3), "STRING"), "[1, NULL, 3]"),
    "map prints": (cast(f("MAP", "a", 1), "STRING"), "{a=1}"),
    "row prints": (cast(f("ROW", 1, "x", None, True), "STRING"), "(1, x, NULL, TRUE)"),
    "bytes": (cast(text("é"), "BYTES"), "c3a9"),
    "bytes to text": (cast(typed("c3a9", "BYTES"), "STRING"), "é"),
    "timestamp to date": (cast(ts("2024-02-29 23:59:59.999"), "DATE"), "2024-02-29"),
    "timestamp to time": (cast(ts("2024-02-29 23:59:59.999"), "TIME(0)"), "23:59:59"),
    "date to timestamp": (cast(date("2024-02-29"), "TIMESTAMP(3)"), "2024-02-29 00:00:00.000"),
    "timestamp loses digits": (cast(ts("2024-01-01 00:00:00.789"), "TIMESTAMP(0)"), "2024-01-01 00:00:00"),
    "timestamp loses some": (cast(ts("2024-01-01 00:00:00.789"), "TIMESTAMP(1)"), "2024-01-01 00:00:00.7"),
    "double saturates": (cast(double("1.0E10"), "INT"), 2147483647),
    "nan to int": (cast(double("NaN"), "INT"), 0),
    "array of texts to ints": (cast(f("ARRAY", "1", "2"), "ARRAY<INT>"), [1, 2]),
    "interval prints": (cast(typed(93784005, "INTERVAL SECOND"), "STRING"), "+1 02:03:04.005"),
    "months print": (cast(typed(-14, "INTERVAL MONTH"), "STRING"), "-1-02"),
}
NUMBERS = {
    "1.0 / 0": (f("/", double("1.0"), double("0.0")), "inf"),
    "-1.0 / 0": (f("/", double("-1.0"), 0), "-inf"),
    "0.0 / 0": (f("/", double("0.0"), double("0.0")), "nan"),
    "NULL / 0": (f("/", typed(None, "INT"), f("-", 1, 1)), None),
    "nan = nan": (f("=", double("NaN"), double("NaN")), False),
    "nan <> nan": (f("<>", double("NaN"), double("NaN")), True),
    "1 < nan": (f("<", double("1.0"), double("NaN")), False),
    "nan > 1": (f(">", double("NaN"), double("1.0")), False),
    "round 2.5": (f("ROUND", double("2.5")), 3.0),
    "round -2.5": (f("ROUND", double("-2.5")), -3.0),
    "round 2.345": (f("ROUND", double("2.345"), 2), 2.35),
    "truncate 0.29": (f("TRUNCATE", double("0.29"), 2), 0.29),
    "truncate -2.99": (f("TRUNCATE", double("-2.99")), -2.0),
    "truncate int": (f("TRUNCATE", 1299, -2), 1200),
    "ceil -0.5": (f("CEIL", double("-0.5")), -0.0),
    "floor 1e20": (f("FLOOR", double("1.0E20")), 1e20),
    "ln 0": (f("LN", 0), "-inf"),
    "ln -1": (f("LN", -1), "nan"),
    "sqrt -1": (f("SQRT", -1), "nan"),
    "log10 1000": (f("LOG10", 1000), 3.0),
    "sign of decimal": (f("SIGN", Decimal("-2.50")), "-1.00"),
    "abs wraps": (f("ABS", f("MINUS_PREFIX", typed(-2147483648, "INT"))), -2147483648),
    "mod of negative": (f("MOD", -7, 2), -1),
    "mod takes the divisor's type": (f("MOD", typed(7, "BIGINT"), 4), 3),
    "pi": (f("PI"), 3.141592653589793),
    "7.0 / 2": (f("/", Decimal("7.0"), 2), "3.500000000000"),
    "null + 1": (f("+", None, 1), None),
    "case is lazy": (f("CASE", f("=", 1, 1), 5, f("/", 1, f("-", 1, 1))), 5),
    "bin of negative": (f("BIN", -1), "1" * 64),
}
_DECIMAL: dict[bool, list[str | None]] = {
    True: [
        "12",
        "-1.5",
        ".5",
        "5.",
        "1e3",
        "1.5E-3d",
        " 7 ",
        "NaN",
        "-Infinity",
        "0x1p3",
        "\u0661\u0662",
        "1f",
    ],
    False: ["", " ", "inf", "nan", "INFINITY", "1e", "1 2", "0x1", "1,5", "\u0661.5", None],
}
TEXTS = {
    **{
        f"is {each!r} decimal": (f("IS_DECIMAL", text(each)), expected)
        for expected, texts in _DECIMAL.items()
        for each in texts
    },
    "||": (f("||", "ab", "c"), "abc"),
    "|| null": (f("||", text("a"), NOTHING), None),
    "concat null": (f("CONCAT", "a", NOTHING), None),
    "concat_ws": (f("CONCAT_WS", ",", text("a"), NOTHING, "", "b"), "a,,b"),
    "concat_ws null": (f("CONCAT_WS", NOTHING, "a"), None),
    "split": (f("SPLIT", "a,b,,c", ","), ["a", "b", "", "c"]),
    "split ''": (f("SPLIT", "", ","), []),
    "split special": (f("SPLIT", "a.b|c", "."), ["a", "b|c"]),
    "split_index": (f("SPLIT_INDEX", "a,b,c", ",", 1), "b"),
    "split_index beyond": (f("SPLIT_INDEX", "a,b,c", ",", 3), None),
    "split_index negative": (f("SPLIT_INDEX", "a,b,c", ",", -1), None),
    "split_index by number": (f("SPLIT_INDEX", "a,b,c", 44, 2), "c"),
    "str_to_map": (f("STR_TO_MAP", "a=1,b,c=x=y"), {"a": "1", "b": None, "c": "x=y"}),
    "overlay without length": (f("OVERLAY", "abcdef", "XY", 3), "abXYef"),
    "overlay at the end": (f("OVERLAY", "abc", "XY", 3, 1), "abXY"),
    "lpad nothing": (f("LPAD", "abc", -1, "x"), None),
    "lpad cuts": (f("LPAD", "abcdef", 3, "x"), "abc"),
    "ltrim characters": (f("LTRIM", "xyxabc", "xy"), "abc"),
    "btrim": (f("BTRIM", "xxabcxx", "x"), "abc"),
    "trim trailing": (f("TRIM", "TRAILING", "b", "abb"), "a"),
    "chr": (f("CHR", 353), "a"),
    "position from": (f("POSITION", "a", "abca", 2), 4),
    "repeat negative": (f("REPEAT", "ab", -1), ""),
    "left": (f("LEFT", "abc", 2), "ab"),
    "initcap": (f("INITCAP", "hELLO wORLD-foo 2nd"), "Hello World-Foo 2nd"),
    "starts": (f("STARTSWITH", "abc", "ab"), True),
    "elt": (f("ELT", 2, "a", "b"), "b"),
    "elt beyond": (f("ELT", 3, "a", "b"), None),
    "translate": (f("TRANSLATE", "abc", "ab", "x"), "xc"),
    "md5": (f("MD5", "abc"), "900150983cd24fb0d6963f7d28e17f72"),
    "sha1": (f("SHA1", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"),
    "sha224": (f("SHA224", "abc"), "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    "sha2": (f("SHA2", "", 256), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    "to_base64": (f("TO_BASE64", "hello world"), "aGVsbG8gd29ybGQ="),
    "from_base64": (f("FROM_BASE64", "aGVsbG8gd29ybGQ="), "hello world"),
    "encode": (f("ENCODE", "é", "UTF-16BE"), "00e9"),
    "decode": (f("DECODE", f("ENCODE", "é", "UTF-8"), "UTF-8"), "é"),
    "regexp": (f("REGEXP", "abc", "b+"), True),
    "regexp empty": (f("REGEXP", "abc", ""), False),
    "regexp_replace is literal": (f("REGEXP_REPLACE", "abc", "(b)", "[$1\\]"), "a[$1\\]c"),
    "regexp_extract": (f("REGEXP_EXTRACT", "foo42bar7", "([a-z]+)(\\d+)", 2), "42"),
    "regexp_extract whole": (f("REGEXP_EXTRACT", "foo42bar7", "[a-z]+\\d+"), "foo42"),
    "regexp_extract nothing": (f("REGEXP_EXTRACT", "foo", "(\\d+)", 1), None),
    "regexp_extract bad group": (f("REGEXP_EXTRACT", "foo", "(o)", 2), None),
    "regexp_extract_all": (f("REGEXP_EXTRACT_ALL", "a1b22", "[a-z](\\d+)", 1), ["1", "22"]),
    "regexp_extract_all none": (f("REGEXP_EXTRACT_ALL", "ab", "(\\d+)"), []),
    "regexp_extract_all without group": (f("REGEXP_EXTRACT_ALL", "ab", "a"), None),
    "regexp_count": (f("REGEXP_COUNT", "a1b22", "\\d"), 3),
    "like with backslash": (f("LIKE", "a\\b", "a\\_"), True),
    "like escape": (f("LIKE", "50%", "50!%", "!"), True),
    "similar to": (f("SIMILAR TO", "a.c", "a[.]_"), True),
    "similar to all": (f("SIMILAR TO", "abcd", "b|c"), False),
    "parse_url": (f("PARSE_URL", "http://u@h.org:8/p?a=1&b=2#r", "QUERY", "b"), "2"),
    "parse_url host": (f("PARSE_URL", "http://u@h.org:8/p?a=1&b=2#r", "HOST"), "h.org"),
    "is_alpha": (f("IS_ALPHA", "éa"), True),
    "is_digit": (f("IS_DIGIT", "12a"), False),
    "printf": (f("PRINTF", "%s|%05d|%.2f|%b|%s", "a", 42, 1.5, True, None), "a|00042|1.50|true|null"),
    "printf nothing": (f("PRINTF", NOTHING, 1), None),
    "printf decimal": (f("PRINTF", "<%6s>", Decimal("1.50")), "<  1.50>"),
    "typeof": (f("TYPEOF", Decimal("1.50")), "DECIMAL(3, 2) NOT NULL"),
    "typeof array": (f("TYPEOF", typed(None, "ARRAY<INT>")), "ARRAY<INT>"),
    "dollar brace": (f("CONCAT", "${x}", "'\\"), "${x}'\\"),
}
TIMES = {
    "+ interval": (f("+", ts("2024-02-28 23:00:00"), typed(7200000, "INTERVAL SECOND")), "2024-02-29 01:00:00.000"),
    "- interval": (f("-", ts("2024-03-01 00:00:00"), typed(1, "INTERVAL SECOND")), "2024-02-29 23:59:59.999"),
    "+ month": (f("+", ts("2024-01-31 10:00:00"), typed(1, "INTERVAL MONTH")), "2024-02-29 10:00:00.000"),
    "date + month": (f("+", date("2024-01-31"), typed(1, "INTERVAL MONTH")), "2024-02-29"),
    "date - day": (f("-", date("2024-03-01"), typed(86400000, "INTERVAL SECOND")), "2024-02-29"),
    "time + hours": (f("+", typed("23:00:00", "TIME(0)"), typed(7200000, "INTERVAL SECOND")), "01:00:00"),
    "interval * int": (
        f("+", ts("2024-01-01 00:00:00"), f("*", typed(1000, "INTERVAL SECOND"), 90)),
        "2024-01-01 00:01:30.000",
    ),
    "timestampadd": (f("TIMESTAMPADD", "WEEK", 1, date("2024-02-26")), "2024-03-04"),
    "timestampadd month": (f("TIMESTAMPADD", "MONTH", -1, ts("2024-03-31 00:00:00")), "2024-02-29 00:00:00.000"),
    "timestampdiff day": (f("TIMESTAMPDIFF", "DAY", ts("2024-01-01 12:00:00"), ts("2023-12-31 00:00:00")), -1),
    "timestampdiff month": (f("TIMESTAMPDIFF", "MONTH", date("2024-01-31"), date("2024-02-29")), 1),
    "timestampdiff year": (f("TIMESTAMPDIFF", "YEAR", ts("2020-03-01 10:00:00"), ts("2024-03-01 09:00:00")), 3),
    "timestampdiff quarter": (f("TIMESTAMPDIFF", "QUARTER", date("2024-12-31"), date("2024-01-01")), -3),
    "times apart": (f("- INTERVAL", "DAY", ts("2024-01-02 12:34:56.789"), ts("2024-01-01 00:00:00")), 131_696_789),
    "times apart backwards": (f("- INTERVAL", "SECOND", date("2024-01-01"), date("2024-01-03")), -172_800_000),
    "clocks apart": (f("- INTERVAL", "HOUR", at("12:00"), at("13:30")), -5_400_000),
    "months apart": (f("- INTERVAL", "QUARTER", ts("2025-03-30 12:00:00"), ts("2024-01-31 00:00:00")), 13),
    "years apart backwards": (f("- INTERVAL", "YEAR", date("2024-01-31"), date("2025-03-30")), -13),
    "nothing apart": (f("- INTERVAL", "DAY", date(None), date("2024-01-01")), None),
    "floor week": (f("FLOOR", ts("2024-02-29 12:34:56.789"), "WEEK"), "2024-02-25 00:00:00.000"),
    "floor month before 1970": (f("FLOOR", ts("1969-12-31 23:59:59.001"), "MONTH"), "1970-01-01 00:00:00.000"),
    "floor day before 1970": (f("FLOOR", ts("1969-12-31 23:59:59.001"), "DAY"), "1969-12-31 00:00:00.000"),
    "floor hour": (f("FLOOR", ts("2024-02-29 12:34:56.789"), "HOUR"), "2024-02-29 12:00:00.000"),
    "ceil minute": (f("CEIL", ts("2024-02-29 12:34:56.789"), "MINUTE"), "2024-02-29 12:35:00.000"),
    "ceil month": (f("CEIL", ts("2024-02-29 12:34:56.789"), "MONTH"), "2024-03-01 00:00:00.000"),
    "ceil quarter of a date": (f("CEIL", date("2024-02-29"), "QUARTER"), "2024-04-01"),
    "ceil year": (f("CEIL", date("2024-01-01"), "YEAR"), "2024-01-01"),
    "floor time": (f("FLOOR", typed("12:34:56", "TIME(0)"), "MINUTE"), "12:34:00"),
    "date_format": (
        f("DATE_FORMAT", ts("2024-02-29 12:34:56.789"), "yyyy/MM/dd'T'HH:mm:ss.SSS EEE"),
        "2024/02/29T12:34:56.789 Thu",
    ),
    "date_format of text": (f("DATE_FORMAT", text("2024-02-29 12:34:56"), "dd.MM.yyyy"), "29.02.2024"),
    "date_format of text by days": (f("DATE_FORMAT", text("2024-02-29 12:34:56"), "dd.MM.uuuu"), "29.02.0004"),
    "to_timestamp": (f("TO_TIMESTAMP", text("2024-02-30 00:00:00")), "2024-02-29 00:00:00.000"),
    "to_timestamp bad": (f("TO_TIMESTAMP", text("nope")), None),
    "to_timestamp format": (f("TO_TIMESTAMP", text("29/02/2024 12:34"), "dd/MM/yyyy HH:mm"), "2024-02-29 12:34:00.000"),
    "to_timestamp falls back": (
        f("TO_TIMESTAMP", text("2024-02-30 00:00:00"), "dd/MM/yyyy"),
        "2024-03-01 00:00:00.000",
    ),
    "to_timestamp fits nothing": (f("TO_TIMESTAMP", text("nope"), "dd/MM/yyyy"), None),
    "to_date": (f("TO_DATE", text("2024-02-29")), "2024-02-29"),
    "to_date bad": (f("TO_DATE", text("2024-02-30")), None),
    "to_date format": (f("TO_DATE", text("29.02.2024"), "dd.MM.yyyy"), "2024-02-29"),
    "to_date format bad": (f("TO_DATE", text("nope"), "dd.MM.yyyy"), "+1705471-09-27"),
    "unix_timestamp": (f("UNIX_TIMESTAMP", text("1970-01-02 00:00:00")), 86400),
    "unix_timestamp bad": (f("UNIX_TIMESTAMP", text("nope")), -9223372036854775808),
    "unix_timestamp format": (f("UNIX_TIMESTAMP", text("02.01.1970"), "dd.MM.yyyy"), 86400),
    "from_unixtime format": (f("FROM_UNIXTIME", 86400, "yyyyMMdd"), "19700102"),
    "to_timestamp_ltz seconds": (f("TO_TIMESTAMP_LTZ", 100, 0), "1970-01-01 00:01:40.000"),
    "convert_tz": (f("CONVERT_TZ", text("1970-01-01 00:00:00"), "UTC", "America/Los_Angeles"), "1969-12-31 16:00:00"),
    "date = text": (f("=", date("2024-02-29"), text("2024-02-29")), True),
    "timestamp > text": (f(">", ts("2024-02-29 00:00:00"), text("2024-02-28 00:00:00")), True),
    "date < timestamp": (f("<", date("2024-02-29"), ts("2024-02-29 00:00:01")), True),
}
LISTS = {
    "item beyond": (f("ITEM", ints(1, 2, 3), 4), None),
    "contains null": (f("ARRAY_CONTAINS", ints(1, None), None), True),
    "contains no null": (f("ARRAY_CONTAINS", ints(1, 2), None), False),
    "contains": (f("ARRAY_CONTAINS", ints(1, 2), 2), True),
    "contains in null": (f("ARRAY_CONTAINS", typed(None, "ARRAY<INT>"), 2), None),
    "join skips null": (f("ARRAY_JOIN", f("ARRAY", "a", None, "c"), ","), "a,c"),
    "join null as": (f("ARRAY_JOIN", f("ARRAY", "a", None, "c"), ",", "-"), "a,-,c"),
    "except": (f("ARRAY_EXCEPT", ints(1, 1, 2, None), ints(2)), [1, None]),
    "intersect": (f("ARRAY_INTERSECT", ints(1, 2, 2, None), ints(2, None)), [2, None]),
    "union": (f("ARRAY_UNION", ints(1, 1, None), ints(None, 2)), [1, None, 2]),
    "concat": (f("ARRAY_CONCAT", ints(1), ints(2, 1)), [1, 2, 1]),
    "distinct": (f("ARRAY_DISTINCT", ints(2, 1, 2, None, None)), [2, 1, None]),
    "sort": (f("ARRAY_SORT", ints(2, None, 1)), [None, 1, 2]),
    "sort descending": (f("ARRAY_SORT", ints(2, None, 1), False), [2, 1, None]),
    "sort nulls last": (f("ARRAY_SORT", ints(2, None, 1), True, False), [1, 2, None]),
    "reverse": (f("ARRAY_REVERSE", ints(1, 2)), [2, 1]),
    "slice": (f("ARRAY_SLICE", ints(1, 2, 3, 4), 2, 3), [2, 3]),
    "slice of nothing": (f("ARRAY_SLICE", ints(1, 2, 3, 4), 1, -10), []),
    "slice from the end": (f("ARRAY_SLICE", ints(1, 2, 3, 4), -2), [3, 4]),
    "max": (f("ARRAY_MAX", ints(1, None, 3)), 3),
    "append": (f("ARRAY_APPEND", ints(1), None), [1, None]),
    "prepend": (f("ARRAY_PREPEND", ints(1), 0), [0, 1]),
    "remove": (f("ARRAY_REMOVE", ints(1, None, 1), 1), [None]),
    "position": (f("ARRAY_POSITION", ints(1, 2), 2), 2),
    "position of nothing": (f("ARRAY_POSITION", ints(1, 2), 5), 0),
    "element": (f("ELEMENT", ints(7)), 7),
    "map_from_arrays": (f("MAP_FROM_ARRAYS", f("ARRAY", "a", "b"), ints(1, 2)), {"a": 1, "b": 2}),
    "map_from_entries": (f("MAP_FROM_ENTRIES", f("ARRAY", f("ROW", "a", 1), f("ROW", "b", 2))), {"a": 1, "b": 2}),
    "map_from_entries of one twice": (f("MAP_FROM_ENTRIES", f("ARRAY", f("ROW", 1, 1), f("ROW", 1, 2))), {"1": 2}),
    "map_entries": (f("MAP_ENTRIES", f("MAP", "a", 1)), [["a", 1]]),
    "cardinality of null": (f("CARDINALITY", typed(None, "ARRAY<INT>")), None),
    "greatest with null": (f("GREATEST", 1, typed(None, "INT")), None),
    "in with text": (f("IN", text("b"), "a", "b"), True),
}
PERIODS = {
    "overlaps": (f("OVERLAPS", at("2:55"), hours(1), at("3:30"), hours(2)), True),
    "overlaps not": (f("OVERLAPS", at("9:00"), at("9:30"), at("10:15"), hours(3)), False),
    "overlaps in one moment": (f("OVERLAPS", at("9:00"), at("9:30"), at("9:30"), at("9:45")), True),
    "overlaps written backwards": (f("OVERLAPS", at("9:30"), at("9:00"), at("9:20"), at("9:10")), True),
    "overlaps with an open end": (f("OVERLAPS", at("9:00"), typed(None, "TIME(0)"), at("8:00"), at("8:30")), None),
}
DOCUMENT = text(
    '{"n": 1.50, "t": "8", "z": null, "s": "a\\"b", "l": [{"k": 1}, {"k": "x"}, 3], "o": {"b": true, "a": 2}}'
)
JSON = {
    "number as written": (f("JSON_VALUE", DOCUMENT, "$.n"), "1.50"),
    "escaped text": (f("JSON_VALUE", DOCUMENT, "$.s"), 'a"b'),
    "boolean": (f("JSON_VALUE", DOCUMENT, "$.o.b"), "true"),
    "null is an error": (f("JSON_VALUE", DOCUMENT, "$.z", "DEFAULT", "e", "DEFAULT", "x"), "x"),
    "missing is an error": (f("JSON_VALUE", DOCUMENT, "$.q", "DEFAULT", "e", "DEFAULT", "x"), "x"),
    "missing in lax mode is empty": (f("JSON_VALUE", DOCUMENT, "lax $.q", "DEFAULT", "e", "DEFAULT", "x"), "e"),
    "list is an error": (f("JSON_VALUE", DOCUMENT, "$.l", "DEFAULT", "e", "DEFAULT", "x"), "x"),
    "returning double": (f("JSON_VALUE", DOCUMENT, "$.n", to="DOUBLE"), 1.5),
    "query sorts keys": (f("JSON_QUERY", DOCUMENT, "$.o"), '{"a":2,"b":true}'),
    "query keeps texts": (f("JSON_QUERY", DOCUMENT, "$.l"), '[{"k":1},{"k":"x"},3]'),
    "query wildcard": (f("JSON_QUERY", DOCUMENT, "$.l[*].k"), '[1,"x"]'),
    "query scalar": (f("JSON_QUERY", DOCUMENT, "$.n"), None),
    "query wrapped text": (f("JSON_QUERY", DOCUMENT, "$.s", "UNCONDITIONAL", "NULL", "NULL"), '["a\\"b"]'),
    "query else": (f("JSON_QUERY", DOCUMENT, "$.q", "WITHOUT", "NULL", "EMPTY ARRAY"), "[]"),
    "exists": (f("JSON_EXISTS", DOCUMENT, "$.l[2]"), True),
    "exists not": (f("JSON_EXISTS", DOCUMENT, "$.q", "TRUE"), True),
    "is scalar": (f("IS JSON", text(" 12 "), "SCALAR"), True),
    "object nested": (
        f("JSON_OBJECT", "NULL", "b", f("JSON_ARRAY", "NULL", 1, None), "a", 1.5),
        '{"a":1.5,"b":[1,null]}',
    ),
    "object of nothing": (f("JSON_OBJECT", "NULL"), "{}"),
    "string": (f("JSON_STRING", True), "true"),
    "quote": (f("JSON_QUOTE", text('a"b\\c/d\b\f\n\r\t\x01')), '"a\\"b\\\\c\\/d\\b\\f\\n\\r\\t\x01"'),
    "quote beyond ascii": (f("JSON_QUOTE", text("é~😀")), '"\\u00e9~\\ud83d\\ude00"'),
    "quote nothing": (f("JSON_QUOTE", NOTHING), None),
    "quote ''": (f("JSON_QUOTE", ""), '""'),
    "unquote": (f("JSON_UNQUOTE", text('"a\\"\\u00e9\\n\\/b"')), 'a"é\n/b'),
    "unquote a number": (f("JSON_UNQUOTE", text("12")), "12"),
    "unquote what is no JSON": (f("JSON_UNQUOTE", text('"a\\q"')), '"a\\q"'),
    "unquote an open quote": (f("JSON_UNQUOTE", text('"abc')), '"abc'),
    "unquote nothing": (f("JSON_UNQUOTE", NOTHING), None),
}


@pytest.mark.parametrize(
    "table",
    [CASTS, NUMBERS, TEXTS, TIMES, PERIODS, LISTS, JSON],
    ids=["casts", "numbers", "texts", "times", "periods", "lists", "json"],
)
def test_values(evaluate: Evaluator, table: Table) -> None:
    (found,) = evaluate([each for each, _ in table.values()])
    wrong = {
        name: (value, wanted)
        for (name, (_, wanted)), value in zip(table.items(), found, strict=True)
        if (type(value), repr(value)) != (type(wanted), repr(wanted))
    }
    assert not wrong


FAILING = {
    "division": f("/", Columns(n="INT").n, f("-", Columns(n="INT").n, Columns(n="INT").n)),
    "cast": cast(text("x3"), "INT"),
    "base64": f("FROM_BASE64", text("not base64!")),
    "json type": f("JSON_VALUE", DOCUMENT, "$.t", to="INT"),
    "element": f("ELEMENT", ints(1, 2)),
}


@pytest.mark.parametrize("name", FAILING)
def test_failures(evaluate: Evaluator, name: str) -> None:
    with pytest.raises(Exception, match=r"(?i)division|cannot read|base64|JSON_VALUE|ELEMENT"):
        evaluate([FAILING[name]], [{"n": 1}], Columns(n="INT"))
