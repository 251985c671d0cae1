"""Plain JSON: what is taken for plain is read as by Flink's rules, and each line by one task."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.tables import Column
from execnodes.core.types import Field, parse_type
from rekindle.connectors.few_files import told_of
from rekindle.connectors.format import Wanted
from rekindle.connectors.formats.json import Json
from rekindle.connectors.options import TableOptions, check_options
from rekindle.connectors.plain_files import Part, parts
from rekindle.connectors.plain_json import NotPlainError, PlainJson
from tests.formats.compare import numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = int(os.environ.get("REKINDLE_SEED", "1"))


def plain(lines: bytes, *, iso: bool = False, **fields: str) -> list[dict[str, Any]] | None:
    """Rows; None where lines are not plain."""
    try:
        columns, rows = PlainJson(tuple(Field(k, parse_type(t)) for k, t in fields.items()), iso=iso).parse(lines)
    except NotPlainError:
        return None
    values = {name: listed(column) for name, column in columns.items()}
    return [{name: values[name][at] for name in values} for at in range(rows)]


def listed(column: Any) -> list[Any]:
    """Its values; times as numbers, since Python's begin with the year 1."""
    return list(column.cast(numbers(column.type)).to_pylist())


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (b'{"a":1}\n{"a":2}\n', [1, 2]),
        (b'{"a":1}\r\n{"a":2}', [1, 2]),
        (b"", []),
        (b"\n", []),
        (b'{"b":{"a":5},"a":1,"c":[{}]}', [1]),
        (b'{"b":1}\n{"a":null}\n{}', [None, None, None]),
        (b'{"a": 1 , "\\u0062": "}\\n{" }', [1]),
        (b'{"\\u0061":3}', [3]),
        (b'{"a":1}\n\n{"a":2}', None),
        (b'{"a":1} \n{"a":2}', None),
        (b' {"a":1}', None),
        (b'{"a":1}{"a":2}\n{"a":3}', None),
        (b'{"a":1}{"a":2}', None),
        (b'{"a":\n1}', None),
        (b'{"a":1,"b":{\n}}', None),
        (b'{"b":{}\n{}}{}\n{"a":1}', None),
        (b'{"a":1}x{"a":1}', None),
        (b'{"a":1}\r{"a":1}', None),
        (b'[{"a":1}]', None),
        (b"1", None),
        (b'{"a":1', None),
        (b'{"a":1,"a":2}', None),
        (b'{"a":"1"}', None),
        (b'{"a":1.0}', None),
        (b'{"a":01}', None),
        (b'{"a":2147483648}', None),
        (b'{"b":"\xff"}', None),
        (b'{"b":"\\ud800"}', None),
        (b'{"b":"a\tb"}', None),
        (b'{"a":1}\0', None),
    ],
)
def test_lines_are_objects(lines: bytes, expected: list[Any] | None) -> None:
    found = plain(lines, a="INT")
    assert (None if found is None else [each["a"] for each in found]) == expected


def test_rows_of_no_fields_are_counted() -> None:
    assert plain(b'{"a":1}\n{"b":2}\n{}') == [{}, {}, {}]


@pytest.mark.parametrize(
    "kind",
    [
        "FLOAT",
        "TIME(3)",
        "VARBINARY(5)",
        "ROW<a FLOAT>",
        "ROW<>",
        "ARRAY<TIME(0)>",
        "MAP<STRING, INT>",
        "MULTISET<INT>",
    ],
)
def test_what_is_left_to_the_rules(kind: str) -> None:
    assert not PlainJson.knows(parse_type(kind))
    column = Column(name="a", data_type=parse_type(kind))
    assert Json().plain((column,), _options()) is None


def test_missing_fields_that_fail_are_left_to_the_rules() -> None:
    column = Column(name="a", data_type=parse_type("INT"))
    assert Json().plain((column,), _options(**{"json.fail-on-missing-field": "true"})) is None


def _options(**given: str) -> TableOptions:
    return check_options(given, Json.options, "source", "t")


# -- values


def _integer(random: Random) -> str:
    digits = "".join(random.choices("0123456789", k=random.choice((1, 2, 3, 4, 5, 9, 10, 18, 19, 20, 39))))
    return random.choice(("", "", "-", "+")) + random.choice((digits, digits.lstrip("0") or "0"))


def _number(random: Random) -> str:
    fraction = random.choice(("", "", f".{random.randrange(10 ** random.choice((1, 2, 3, 18)))}", ".", ".50", ".000"))
    exponent = random.choice(("", "", "", "e0", "E2", "e-3", "e+5", "e400", "e-400", "e"))
    text = _integer(random) + fraction + exponent
    return random.choice((text, text, text, f'"{text}"', "null", "true", "NaN", "Infinity", "-0", "-0.0", f" {text} "))


def _text(random: Random) -> str:
    parts = (
        "a",
        "é",
        "😀",
        r"\n",
        r"\u00e9",
        r"\ud83d\ude00",
        r"\ud800",
        r"\"",
        r"\\",
        "\t",
        " ",
        r"\u0000",
        r"\/",
        "\x7f",
    )
    text = '"' + "".join(random.choices(parts, weights=(9,) * 6 + (1,) + (9,) * 7, k=random.randrange(6))) + '"'
    return random.choice((text, text, text, text, "null", "5", "{}", "[1]", "false", '"true"'))


def _boolean(random: Random) -> str:
    return random.choice(("true", "false", "null", '"true"', "1", "TRUE", "{}", "tru"))


def _day(random: Random) -> str:
    year = random.choice((0, 1, 1500, 1582, 1969, 1970, 2000, 2023, 2024, 9999, random.randrange(9999)))
    return f"{year:04d}-{random.randrange(14):02d}-{random.choice((1, 15, 28, 29, 30, 31, 32)):02d}"


def _clock(random: Random) -> str:
    text = f"{random.choice((0, 7, 12, 23, 24)):02d}:{random.choice((0, 59, 60)):02d}:{random.choice((0, 59, 60)):02d}"
    return text + random.choice(
        ("", ".", f".{random.randrange(10)}", ".001", ".9999", ".123456", ".1234567", ".000000001")
    )


def _spoilt(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    spoilt = text[:at] + random.choice((" ", "0", "-", ":", "Z", "T", "٣", "")) + text[at + random.randrange(2) :]
    return f'"{random.choice((text, text, text, text, spoilt))}"'


def _moment(random: Random) -> str:
    text = _day(random) + random.choice((" ", " ", "T", "T", "  ", "")) + _clock(random) + random.choice(("", "", "Z"))
    return _spoilt(random, text.replace("-00-", "-01-").replace(":60", ":30"))


def _row(**fields: Callable[[Random], str]) -> Callable[[Random], str]:
    """Objects with members of these names, now and then without one, with others, or with one twice."""

    def text(random: Random) -> str:
        members = [f'"{name}"{random.choice(("", " "))}:{value(random)}' for name, value in fields.items()]
        if random.randrange(4) == 0:
            members[random.randrange(len(members))] = random.choice(('"z":1', '"z":{"a":[{}]}', '"a":1', '"A":1'))
        elif random.randrange(20) == 0:
            members.append(random.choice((members[0], '"z":1,"z":2')))
        random.shuffle(members)
        space = random.choice(("", "", " "))
        made = f"{{{space}{','.join(members)}{space}}}"
        return random.choice((*[made] * 12, "null", "{}", "[]", "5", f"[{made}]", '"{}"', made[:-1]))

    return text


def _array(element: Callable[[Random], str]) -> Callable[[Random], str]:
    def text(random: Random) -> str:
        made = f"[{','.join(element(random) for _ in range(random.choice((0, 1, 1, 1, 2, 3))))}]"
        return random.choice((*[made] * 12, "null", "[null]", "{}", "5", '"[]"', made[:-1], "[[]]"))

    return text


def _mostly(value: Callable[[Random], str], *usual: str) -> Callable[[Random], str]:
    """Values that are read, between those that may not be: an object is plain if all inside is."""
    return lambda random: random.choice(usual) if random.randrange(5) else value(random)


_AMOUNT = _mostly(_number, "1.50", "0.00", "-12", "1e2", "99999999.99")
_QUOTED = _mostly(_number, '"1.50"', '"0.00"', '"-012"', '"99999999.99"')
_WORD = _mostly(_text, '"a"', '"é"', '""')
_WHEN = _mostly(lambda random: _moment(random), '"2024-02-29 12:00:00.123"', '"0001-01-01 00:00:00"')

VALUES: dict[str, Callable[[Random], str]] = {
    "ROW<a INT, b STRING>": _row(a=_mostly(_number, "1", "-5"), b=_WORD),
    "ROW<a DECIMAL(10, 2), b ROW<c TIMESTAMP(3), d BIGINT NOT NULL>>": _row(
        a=_AMOUNT, b=_row(c=_WHEN, d=_mostly(_number, "7"))
    ),
    "ROW<a DECIMAL(10, 2), b DECIMAL(38, 0)>": _row(a=_QUOTED, b=_mostly(_number, '"5"', '"-0"')),
    "ARRAY<INT>": _array(_mostly(_number, "1", "0", "null")),
    "ARRAY<ROW<a STRING, b DOUBLE, c BOOLEAN>>": _array(
        _row(a=_WORD, b=_mostly(_number, "1.5", "0.1", "1e-300"), c=_mostly(_boolean, "true"))
    ),
    "ARRAY<ARRAY<DATE>>": _array(_array(_mostly(lambda random: _spoilt(random, _day(random)), '"2024-02-29"'))),
    "ROW<a ARRAY<DECIMAL(38, 18)>, b ARRAY<STRING>>": _row(
        a=_array(_mostly(_number, "1.000000000000000001", "0.1")), b=_array(_WORD)
    ),
    "TINYINT": _number,
    "SMALLINT": _number,
    "INT": _number,
    "BIGINT": _number,
    "DOUBLE": _number,
    "DECIMAL(10, 2)": _number,
    "DECIMAL(38, 18)": _number,
    "DECIMAL(5, 0)": _number,
    "BOOLEAN": _boolean,
    "STRING": _text,
    "CHAR(2)": _text,
    "VARCHAR(3)": _text,
    "DATE": lambda random: _spoilt(random, _day(random)),
    "TIMESTAMP(0)": _moment,
    "TIMESTAMP(3)": _moment,
    "TIMESTAMP(6)": _moment,
    "TIMESTAMP(9)": _moment,
    "TIMESTAMP_LTZ(3)": _moment,
    "TIMESTAMP_LTZ(6)": _moment,
}


@pytest.mark.spark
@pytest.mark.parametrize("iso", [False, True], ids=("sql", "iso"))
@pytest.mark.parametrize("kind", list(VALUES))
def test_plain_values_are_those_of_the_rules(spark: SparkSession, kind: str, iso: bool) -> None:
    """Each line is read alone, so that one that is not plain hides no other."""
    random = Random(f"{SEED} {kind} {iso}")
    texts = {VALUES[kind](random) for _ in range(1_000)}
    found = {}
    for text in sorted(texts):
        line = f'{{"a":{text}}}'
        rows = plain(line.encode(), iso=iso, a=kind)
        if rows is not None:
            (found[line],) = rows
    assert 0 < len(found) < len(texts)
    options = _options(**{"json.timestamp-format.standard": "ISO-8601" if iso else "SQL"})
    lines = spark.createDataFrame([(each, "p") for each in found], "value STRING, rk_path STRING")
    column = Column(name="a", data_type=parse_type(kind))
    decoded = Json().decode(lines, options, Wanted((column,), (column,), ("value",)))
    values, of_lines = map(listed, decoded.toArrow().columns)
    assert {line: repr(value) for line, value in zip(of_lines, values, strict=True)} == {
        line: repr(each["a"]) for line, each in found.items()
    }


# -- files


def told(file: Path) -> list[Any]:
    """What tasks are told of a file."""
    found = told_of(str(file))
    assert found is not None
    return found


def test_tasks_read_each_line_once(tmp_path: Path) -> None:
    random = Random(SEED)
    for case in range(60):
        lines, files = list[bytes](), []
        for number in range(random.randrange(1, 4)):
            names = (f"{case}-{number}-{at}{'x' * random.randrange(30)}" for at in range(random.randrange(40)))
            mine = [json.dumps({"n": each}).encode() for each in names]
            path = tmp_path / f"{case}-{number}.json"
            content = b"".join(line + b"\n" for line in mine)
            path.write_bytes(content[: -random.randrange(2) or None] if content else content)
            files.append(told(path))
            lines += mine
        tasks, most = random.randrange(1, 9), random.choice((1, 20, 100, 10_000))
        read = [block for task in range(tasks) for part in parts(files, task, tasks) for block in part.blocks(most)]
        assert [line for block in read for line in block.splitlines()] == lines
        assert all(block for block in read)


def test_a_mark_at_the_start_of_a_file_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'\xef\xbb\xbf{"a":1}\n')
    ((block,),) = (tuple(part.blocks()) for part in parts([told(tmp_path / "a")], 0, 1))
    assert block == b'{"a":1}\n'


def test_a_file_that_is_changing_is_left_to_the_rules(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"a":1}\n')
    with pytest.raises(NotPlainError, match="is changing"):
        list(Part(str(tmp_path / "a"), 7, 0, 0, 7).blocks())
