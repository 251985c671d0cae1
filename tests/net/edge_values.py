"""The rows that functions are recorded over: for each type its edges, each column beside a twin that is turned.

Only appended to: records name columns and hold a value for each row.
"""

from __future__ import annotations

from collections.abc import Iterator

ROWS = 24
_NUMBERS: dict[str, tuple[str, str, str]] = {
    "ti": ("TINYINT", "TINYINT", "1|-128|127|NULL|0|-1|10|13"),
    "si": ("SMALLINT", "SMALLINT", "2|-32768|32767|NULL|0|-1|100|255"),
    "i": ("INT", "INT", "3|-2147483648|2147483647|NULL|0|-1|7|1000|65|128|-45|86400"),
    "b": ("BIGINT", "BIGINT", "4|-9223372036854775808|9223372036854775807|NULL|0|-1|1709210096789|253402300800|-62135596801"),
    "f": ("FLOAT", "FLOAT", "1.5|-0.0|3.0E10|NULL|0.5|NaN|Infinity|-Infinity|1.0E-45|3.4028235E38|-2.5|0.1"),
    "d": ("DOUBLE", "DOUBLE", "2.5|-1.0E10|1.0E-5|NULL|-2.5|0.0|-0.0|NaN|Infinity|-Infinity|1.7976931348623157E308|"
          "4.9E-324|0.1|1.0E15|123456789.125|1"),
    "x": ("DECIMAL(10,2)", "DECIMAL(10,2)", "12.34|-99999999.99|99999999.99|NULL|0.05|0.00|-0.50|1.00|2.50|-2.50"),
    "x0": ("DECIMAL(12,0)", "DECIMAL(12,0)", "7|-99|999999999999|NULL|0|-999999999999|100"),
    "x38": ("DECIMAL(38,18)", "DECIMAL(38,18)", "3.141592653589793238|-0.000000000000000001|1|NULL|-2.5|0|"
            "99999999999999999999.999999999999999999|0.5"),
    "bo": ("BOOLEAN", "BOOLEAN", "true|false|NULL"),
    "n": ("INT", "INT", "1|2|0|-1|NULL|3|5|100|-3"),
    "dt": ("DATE", "DATE", "2024-02-29|1969-12-31|9999-12-31|NULL|2023-12-31|0001-01-01|1970-01-01|1582-10-15|1900-03-01|"
           "2024-12-30|2021-01-03"),
    "ts": ("TIMESTAMP(3)", "TIMESTAMP_NTZ", "2024-02-29 12:34:56.789|1970-01-01 00:00:00.001|2000-12-31 23:59:59.999|NULL|"
           "1999-01-01 00:00:00|0001-01-01 00:00:00|9999-12-31 23:59:59.999|1969-12-31 23:59:59.999|2024-03-10 02:30:00|"
           "2024-11-03 01:30:00|2024-03-31 02:30:00"),
    "ts0": ("TIMESTAMP(0)", "TIMESTAMP_NTZ", "2024-02-29 12:34:56|1970-01-01 00:00:00|NULL|1582-10-04 23:59:59|"
            "2024-01-31 00:00:00|2024-12-31 23:59:59|0001-01-01 00:00:00"),
    "ts6": ("TIMESTAMP(6)", "TIMESTAMP_NTZ", "2024-02-29 12:34:56.789123|1970-01-01 00:00:00.000001|"
            "2000-12-31 23:59:59.999999|NULL|1999-01-01 00:00:00|1969-12-31 23:59:59.999999|9999-12-31 23:59:59.999999"),
    "ltz": ("TIMESTAMP_LTZ(3)", "TIMESTAMP", "2024-02-29 12:34:56.789Z|1970-01-01 00:00:00Z|NULL|1969-12-31 23:59:59.999Z|"
            "2024-03-10 07:00:00Z|2024-11-03 05:30:00Z|2024-11-03 06:30:00Z|1883-11-18 17:00:00Z|9999-12-30 23:59:59Z"),
    "ltz6": ("TIMESTAMP_LTZ(6)", "TIMESTAMP", "2024-02-29 12:34:56.789123Z|1970-01-01 00:00:00.000001Z|NULL|"
             "1969-12-31 23:59:59.999999Z|2024-06-30 23:59:59.999999Z"),
}  # fmt: skip
"""Column to SQL type, Spark's type and values; a text after ``|`` is cast to Spark's type."""
_TEXTS: dict[str, tuple[str, list[str | None]]] = {
    "s": ("STRING", ["Hello World", "", "héßłö 😀x", None, "  a,b;c  ", "a", "A1b2", "x=1,y=2", "ǅ ﬁ İi", "\t\n", "100%_x",
                     "aXbXa", "日本語", "'q'\"\\", "%41%zz+b", "YWJj", "€uro", "ab.c|d$e^", "12", "NULL"]),
    "s2": ("STRING", ["lo", "", "😀", None, ",", "a", "1", "=", "i", "\t", "%", "X", "本", "\\", "a", "b", "uro", ".", "2"]),
    "u": ("STRING", ["0", "-1", " 12 ", None, "1e2", "12.7", "3000000000", "9223372036854775808", "t", "TRUE", " no ", "NaN",
                     "-Infinity", "0x1f", "1_000", "+5", "12abc", "", "١٢", "1.", ".5", "99999999999999999999999999999999999999.9",
                     "-0", "1,5"]),
    "q": ("STRING", ["2024-02-29", "2023-02-29", "2024-02-29 12:34:56", None, "2024-02-29T12:34:56", "2024-2-9 1:2:3.5", "12",
                     " 2024-01-01 ", "12:34:56", "12:34:56.789", "24:00:00", "9999-12-31 23:59:59.999", "0001-01-01", "10000-01-01",
                     "2024-02-29 12:34", "2024-13-01", "", "abc", "1969-12-31 23:59:59.9999999", "2024-02-29 12:34:56.123456789",
                     "2024-03-10 02:30:00", "-2024-01-01", "2024-02-30 00:00:00", "20240229"]),
    "fm": ("STRING", ["yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss", "dd/MM/yyyy", None, "HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "", "E, d MMM yy",
                      "yyyy-MM-dd HH:mm:ss.SSS", "hh a", "D", "bad pattern b", "'unclosed", "yyyyMMdd"]),
    "zn": ("STRING", ["UTC", "America/New_York", "Asia/Kolkata", None, "GMT+01:00", "+05:30", "Nope/Zone", "", "PST", "Europe/Paris"]),
    "p": ("STRING", ["o", "(l+)", "[a-c]", None, "", "(", "^.", "\\d+", "(x)?l", "%o%", "_a%", "a|b", "a*", "\\", "(?i)A", "[", "é", "$"]),
    "j": ("STRING", ['{"a":1,"b":[1,2,{"c":"d"}],"n":null,"t":true,"f":1.5,"s":"str"}', "[]", "not json", None, '"txt"', "{}", "null",
                     "", "1e400", '{"a":{"b":"é\\u0000\\"x"},"a b":[[]]}', '{"a":"1","a":2}', "[1, 2.50, 1E3, -0]", "{'a':1}",
                     '{"a":12345678901234567890,"s":""} ', '{"a":1} x', '{"t":"TRUE","f":1e2,"b":[null]}']),
    "url": ("STRING", ["http://user:pw@example.com:8080/p/a?q=1&k=v%20w#frag", "https://x.org", "/rel?q=5", None, "mailto:a@b.c", "",
                       "http://[::1]/?q", "ftp://h/p;x?q=a&q=b", "http://exämple.com/ä?q=ß", "http://a b", "http://h?#r"]),
    "ip": ("STRING", ["127.0.0.1", "0.0.0.0", "255.255.255.255", None, "256.1.1.1", "1.2.3", "", "a.b.c.d", "01.2.3.4", " 1.2.3.4", "1.2"]),
    "c": ("CHAR(3)", ["abc", "a  ", "äö ", None, " x ", "   ", "1  ", "ABC", "😀  "]),
    "v": ("VARCHAR(5)", ["abcde", "", "日本", None, "a b", "a", "12", "ABC", " "]),
}  # fmt: skip
_OTHERS: dict[str, tuple[str, str, list[str]]] = {
    "tm": ("TIME(0)", "INT", ["45296000", "0", "86399000", "NULL", "3723000", "43200000"]),
    "by1": ("BYTES", "BINARY", ["X'48656c6c6f'", "X''", "X'00ff80'", "NULL", "X'68c3a9c39ff09f9880'", "X'c328'", "X'e282'"]),
    "bn": ("BINARY(3)", "BINARY", ["X'616263'", "X'000000'", "NULL", "X'ff0a80'"]),
    "ai": ("ARRAY<INT>", "ARRAY<INT>",
           ["array(3, 1, 2)", "array(1)", "array(7, 7, NULL, -1)", "NULL", "array(2, 2)", "array()", "array(NULL)", "array(0, 2147483647, -2147483648)"]),
    "sa": ("ARRAY<STRING>", "ARRAY<STRING>",
           ["array('b', 'a', NULL, 'a')", "array('')", "array('z')", "NULL", "array('c', 'b')", "array()", "array('é', 'E', '10', '9')"]),
    "ad": ("ARRAY<DOUBLE>", "ARRAY<DOUBLE>",
           ["array(1.5D, 0.0D, -0.0D)", "array(double('NaN'), 1D, double('NaN'))", "NULL", "array()", "array(NULL, double('-Infinity'))"]),
    "aa": ("ARRAY<ARRAY<INT>>", "ARRAY<ARRAY<INT>>",
           ["array(array(1, 2), array(1, 2), NULL)", "NULL", "array()", "array(array(), array(NULL))"]),
    "m": ("MAP<STRING, INT>", "MAP<STRING, INT>",
          ["map('k', 1, 'j', 2)", "map('k', CAST(NULL AS INT))", "map('a', 5)", "NULL", "map('z', 0, 'y', 9)", "map()", "map('', -1, 'é', 3)"]),
    "mi": ("MAP<INT, STRING>", "MAP<INT, STRING>", ["map(1, 'x', 2, '')", "map(0, CAST(NULL AS STRING))", "NULL", "map()", "map(-1, 'é')"]),
    "r": ("ROW<a INT, b STRING>", "STRUCT<a: INT, b: STRING>",
          ["struct(1, 'x')", "struct(-5, '')", "struct(0, 'é')", "NULL", "struct(9, 'q')", "struct(NULL, NULL)"]),
    "ar": ("ARRAY<ROW<a INT, b STRING>>", "ARRAY<STRUCT<a: INT, b: STRING>>",
           ["array(struct(1, 'x'), struct(1, 'x'))", "array(NULL)", "NULL", "array()", "array(struct(2, CAST(NULL AS STRING)))"]),
}  # fmt: skip
_TURNED = 5


def _columns() -> Iterator[tuple[str, str, str, list[str]]]:
    """Name, SQL type, Spark's type, and a Spark text for each value."""
    for name, (sql, spark, values) in _NUMBERS.items():
        yield name, sql, spark, [each if each == "NULL" else f"'{each}'" for each in values.split("|")]
    for name, (sql, texts) in _TEXTS.items():
        yield name, sql, "STRING", ["NULL" if each is None else _quoted(each) for each in texts]
    for name, (sql, spark, values) in _OTHERS.items():
        yield name, sql, spark, values


def _quoted(text: str) -> str:
    """As bytes, which no rule of escapes concerns."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def table() -> dict[str, tuple[str, str, list[str]]]:
    """Column to its SQL type, Spark's type and the Spark text of its value in each row; ``_b`` names a twin."""
    found = {"k": ("INT NOT NULL", "INT", [str(at + 1) for at in range(ROWS)])}
    for name, sql, spark, values in _columns():
        found[name] = (sql, spark, [values[at % len(values)] for at in range(ROWS)])
        # Two columns of one length never meet but in pairs of their own.
        found[f"{name}_b"] = (sql, spark, [values[(at * _TURNED + 1 + at // len(values)) % len(values)] for at in range(ROWS)])
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
