"""The odd values that formats are held to: texts, types they are read as, and where they stand in a row."""

from __future__ import annotations

from dataclasses import dataclass

TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(38, 18)",
    "STRING", "CHAR(3)", "VARCHAR(3)", "BYTES", "DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)",
    "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)", "ROW<`a` INT, `b` STRING>", "ARRAY<INT>",
)  # fmt: skip
"""Of a column."""
MAPS = ("MAP<STRING, INT>", "MAP<STRING, STRING>")
"""Those that only JSON has."""

NUMBERS = (
    "0", "1", "-1", "-0", "1.0", "1.10", "-0.0", "1.9", "-1.9", "0.005", "1.005", "999.995", "127", "128", "-128",
    "-129", "255", "256", "32767", "32768", "2147483647", "2147483648", "-2147483649", "9223372036854775807",
    "9223372036854775808", "1e3", "1E3", "1e+3", "1e-3", "1e400", "-1e400", "1e-400", "1e38", "1e39", "3.4028236e38",
    "12345678901234567890.123456789", "12345678901234567890", "123456789012345678901234567890123456789", "0.1",
    "16777217", "0.30000000000000004", "100.00", "1.0E7",
)  # fmt: skip
"""Written alike in JSON and as a text."""
NO_NUMBERS = ("NaN", "nan", "Infinity", "-Infinity", "inf", "+1", "01", "-01", "1.", ".5", "0x1F", "1_000", "1f", "1d")
TEXTS = (
    "", " ", "a", "abc", "abcd", "é", "true", "TRUE", "True", "false", "yes", "t", "null", "1,5", "1,234", "1,234.5",
    ",1", "1.5", " 1", "1 ", " 1 ", "1 2", "2024-01-02", "2024-1-2", "2024-02-30", "2023-02-29", "2024-13-01",
    "20240102", "2024-01-02 03:04:05", "2024-01-02 03:04:05.123456789", "2024-01-02 03:04:05.1", "2024-01-02T03:04:05",
    "2024-01-02 03:04:05Z", "2024-01-02 03:04:05.123Z", "2024-01-02T03:04:05Z", "2024-01-02 03:04",
    "2024-01-02 24:00:00",
    "2024-02-30 01:02:03", "2024-01-02 03:04:60", "2024-1-2 3:4:5", "2024-5-1", "0001-01-01", "9999-12-31",
    "+10000-01-01",
    "-0001-01-01", "0000-01-01 00:00:00", "10:00", "10:00:00", "10:00:00.5", "10:00:00.123456", "24:00:00", "23:59:60",
    "1:2:3", "10:00:00Z", "AQI=", "AQI", "AQ I=", "AQI_", "A", "====", "aGVsbG8=", "aGVsbG8", "1;2", "1;x", ";", "١٢",
    "1e3 ", "0b1", "1L", "--1", "+-1", "∞", "1’5", "  ", "\u00a01", "2024-01-02+01:00", "2024-01-02 03:04:05+01:00",
)  # fmt: skip
"""Of a text, without escapes and quotes."""
JSON_ONLY = (
    "null", "true", "false", "[]", "{}", "[1]", "[1, 2]", "[null]", '["1"]', '[1.5, "2"]', "[[1]]", '{"a": 1}',
    '{"a": 1, "b": "x"}', '{"a": "1", "b": 2.50}', '{"b": 1e3}', '{"a": 1, "a": 2}',
    '{"z": 1.10, "y": [1.0, {"q": 2}]}', '{"a": {"a": 1}}',
    '{"a": null}', '{"a": [1]}', '{"A": 1}', '{"b": true}', r'"\u0041"', r'"a\nb"',
    r'"\ud83d\ude00"',
    r'"\ud800"', r'"\udc00x"', r'"\\ud800"', '"a\tb"', '"a\x01b"', r'"\x"', r'"\/"', '"1\\n"', "tru", "nul", "1a",
    "'1'",
    "", "1 2", '"', "[1", '{"a"', "[1,]", '{"a":1,}', "// 1", "/* */ 1",
)  # fmt: skip
"""Values that no other format has."""
CSV_ONLY = (
    '"a"', '"1"', '"a,b"', '"say ""hi"""', ' "a"', '"a" ', 'a"b', '"a"b', '"', '"a', "'a'", "\\N", "a\\,b", "\ta",
    "1\t",
    '""', '" "', "1;2;3", "1; 2", "1;", ";2", '"1;2"', "x;y;z", "1;a;b", "#1",
)  # fmt: skip
"""Fields that no other format has."""


@dataclass(frozen=True, slots=True)
class Case:
    """A record that is to be read."""

    format: str
    nesting: str
    type: str
    text: str

    @property
    def column(self) -> str:
        """Type of the column `x`."""
        return NESTINGS[self.nesting][0].replace("@", self.type) if self.nesting else self.type

    @property
    def row(self) -> str:
        """Type of the table's row."""
        return f"ROW<`x` {self.column}, `y` INT>"

    def value(self) -> str:
        """The text of the column `x`."""
        nestings = CSV_NESTINGS if self.format == "csv" else NESTINGS
        return nestings[self.nesting][1].replace("@", self.text) if self.nesting else self.text

    def record(self) -> str:
        """The text of a record with it, and with 7 after it."""
        if self.format == "csv":
            return f"{self.value()},7"
        fields = f'{{"x": {self.value()}, "y": 7}}'
        match self.format:
            case "json":
                return fields
            case "debezium-json":
                return f'{{"before": null, "after": {fields}, "op": "c"}}'
            case _:
                # A record of Canal.
                return f'{{"data": [{fields}], "type": "INSERT"}}'


NESTINGS = {"row": ("ROW<`p` @, `q` INT>", '{"p": @, "q": 5}'), "array": ("ARRAY<@>", "[@]"),
            "map": ("MAP<STRING, @>", '{"k": @}')}  # fmt: skip
CSV_NESTINGS = {"row": ("ROW<`p` @, `q` INT>", "@;5"), "array": ("ARRAY<@>", "@;@")}
"""Of both: types and texts around those of the matrix."""


def json_texts() -> tuple[str, ...]:
    """Every value of the matrix as JSON writes it."""
    quoted = (f'"{text}"' for text in (*NUMBERS, *NO_NUMBERS, *TEXTS))
    return tuple(dict.fromkeys((*NUMBERS, *NO_NUMBERS, *JSON_ONLY, *quoted)))


def csv_texts() -> tuple[str, ...]:
    """Every field of the matrix; commas are quoted."""
    plain = (f'"{text}"' if "," in text else text for text in (*NUMBERS, *NO_NUMBERS, *TEXTS))
    return tuple(dict.fromkeys((*plain, *CSV_ONLY)))
