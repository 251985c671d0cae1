"""Texts, numbers and types that no plan has: refused with the place, never a failure of Python."""

import json
from typing import Any

import pytest

from execnodes.core.errors import OptionError, PlanError
from execnodes.core.options import find, parse_duration, parse_size
from execnodes.core.types import parse_type
from execnodes.core.windowing import parse_iso_duration
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from tests.plans.nodes import example

NO_TYPES = [
    *(
        "INTERVAL DAY",
        "INTERVAL",
        "INTERVAL `SECOND`",
        "INT(1)",
        "CHAR()",
        "CHAR(1, 2)",
        "VARCHAR(0)",
        "VARCHAR(2147483648)",
    ),
    *(
        "VARCHAR(2147483648)",
        "DECIMAL(39, 0)",
        "DECIMAL(1,)",
        "DECIMAL(1, 2, 3)",
        "TIMESTAMP(10)",
        f"VARCHAR({'9' * 5000})",
        "CHAR(١)",
    ),
    *(
        "ROW<`a` INT `b` INT>",
        "ROW<, `a` INT>",
        "ROW<`a` INT",
        "ROW<`a`>",
        "ROW<5 INT>",
        "INT *ROWTIME*",
        "INT `*ROWTIME*`",
    ),
    *("ARRAY<" * 60 + "INT" + ">" * 60, "ARRAY<" * 3000, "ARRAY`<`INT`>`", "MAP<INT>", "", " ", "INT; DROP", "`INT`"),
]


@pytest.mark.parametrize("text", NO_TYPES, ids=lambda text: text[:24])
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a type|must be|nested|cannot be a time"):
        parse_type(text)


def test_names_of_fields_may_be_anything_in_backticks() -> None:
    text = "ROW<`>` INT, `,` ROW<`NOT` INT NOT NULL, `*ROWTIME*` INT>, `a``b` TIMESTAMP(3) *ROWTIME*>"
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"id": 1', '"id": ' + "9" * 5000, "is no number of a plan"),
        ('"id": 1', '"id": 9223372036854775808', "is no number of a plan: they have 64 bits"),
        ('"ttl": "4 d"', '"ttl": "999999999999999 d"', "is longer than"),
        ('"id": 1', '"id": -1', "id: a node id is a whole number"),
        ('"id": 1', '"id": 99999999999', "id: a node id is a whole number"),
        ('"description": "', '"description": "\\ud800', "half a surrogate pair"),
        ('"description": "', '"description": "\\u0000', "the character NUL"),
        ('"maxParallelism": 8', '"maxParallelism": 1e30', "maxParallelism"),
        ('"id": 1', '"id": 1, "id": 1', "occurs twice"),
    ],
)
def test_what_no_plan_has(old: str, new: str, message: str) -> None:
    text = encode(example())
    assert old in text
    with pytest.raises(PlanError, match=message):
        load(text.replace(old, new, 1))


def test_deep_nesting_is_an_error_of_ours() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(PlanError, match="nested too deeply"):
            load(text)
    plan = json.loads(encode(example()))
    literal: dict[str, Any] = {"kind": "LITERAL", "value": 1, "type": "INT"}
    for _ in range(600):
        literal = {"kind": "FIELD_ACCESS", "name": "x", "expr": literal, "type": "INT"}
    plan["nodes"][1]["projection"] = [literal]
    with pytest.raises(PlanError):
        load(json.dumps(plan))


@pytest.mark.parametrize("zone", ["UTC'", "", "Europe/Nowhere", "../etc/passwd", "+25:00", "UTC\n", "${env:TZ}", "a b"])
def test_what_is_no_time_zone(zone: str) -> None:
    with pytest.raises(OptionError, match=r"table\.local-time-zone"):
        find("table.local-time-zone").check(zone if zone != "UTC\n" else "UTC\nx")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Argentina/Salta", "+08:00", "GMT-5", "Etc/UTC"])
def test_time_zones(zone: str) -> None:
    assert find("table.local-time-zone").check(zone) == zone


@pytest.mark.parametrize("form", ["", "<id>/<operator>", "<id>..<operator>", "<id>\n", "<id> x", "<uid>", "<id>\\x"])
def test_what_is_no_form_of_a_uid(form: str) -> None:
    with pytest.raises(OptionError, match=r"table\.exec\.uid\.format"):
        find("table.exec.uid.format").check(form + "<x>" if form == "<id>\n" else form)


def test_numbers_without_end_are_no_options() -> None:
    for text in ("9" * 5000, "١"):
        with pytest.raises(OptionError, match="whole number"):
            find("parallelism.default").check(text)
        with pytest.raises(OptionError, match="duration"):
            parse_duration(text + " d")


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("65536", 65_536), ("64kb", 65_536), ("4 MB", 4 << 20), ("2 gibibytes", 2 << 30)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text, "key") == size


@pytest.mark.parametrize("text", ["", "mb", "-1", "1.5 mb", "4 mbb", "9" * 16, "١", "4 mb 1 kb"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(OptionError, match="is not a size"):
        find("execution.micro-batch.one-task-size").check(text)


def test_a_uid_that_two_nodes_share() -> None:
    script = """
    CREATE TABLE t (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '/t', 'format' = 'json');
    CREATE TABLE s (k INT, n BIGINT) WITH ('connector' = 'print');
    INSERT INTO s SELECT n2, COUNT(*) FROM (SELECT k, CAST(COUNT(*) AS INT) AS n2 FROM t GROUP BY k) GROUP BY n2
    """
    with pytest.raises(PlanError, match="its operator uid 'global-group-aggregate' is also one of node"):
        TableEnvironment.create({"table.exec.uid.format": "<operator>"}).compile_script(script)


def test_the_place_of_something_deep_is_short() -> None:
    plan = json.loads(encode(example()))
    deep: dict[str, Any] = {"kind": "LITERAL", "value": 1, "type": "INTERVAL DAY"}
    for _ in range(100):
        deep = {"kind": "CALL", "internalName": "$ABS$1", "operands": [deep], "type": "INT"}
    plan["nodes"][1]["projection"] = [deep]
    with pytest.raises(PlanError, match="INTERVAL in a plan") as raised:
        load(json.dumps(plan))
    assert len(raised.value.message) < 2000


@pytest.mark.parametrize("text", ["PT" + "9" * 5000 + "S", "PT999999999999999999H", "PT1e3S", "PT١S", "P1D", ""])
def test_what_is_no_length_of_a_window(text: object) -> None:
    with pytest.raises(ValueError, match=r"is not a duration|is longer than"):
        parse_iso_duration(text)
