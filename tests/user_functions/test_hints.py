"""Types from hints, and what is said where there is none."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Optional

import pytest

from execnodes.core.errors import FunctionError
from execnodes.user_functions.hints import is_nullable, sql_type, type_of_hint


@dataclass
class Reading:
    sensor: str
    values: list[float]


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (int, "BIGINT"),
        (bool, "BOOLEAN"),
        (float, "DOUBLE"),
        (str, "STRING"),
        (bytes, "BYTES"),
        (datetime.date, "DATE"),
        (datetime.time, "TIME(3)"),
        (datetime.datetime, "TIMESTAMP(6)"),
        (datetime.timedelta, "INTERVAL SECOND"),
        (int | None, "BIGINT"),
        (Optional[str], "STRING"),  # noqa: UP045  # the older way to write it
        (list[int], "ARRAY<BIGINT>"),
        (dict[str, list[bool]], "MAP<STRING, ARRAY<BOOLEAN>>"),
        (Counter[str], "MULTISET<STRING>"),
        (Reading, "ROW<`sensor` STRING, `values` ARRAY<DOUBLE>>"),
        (Annotated[Decimal, "DECIMAL(10, 2)"], "DECIMAL(10, 2)"),
        (Annotated[int, "TINYINT"], "TINYINT"),
        (list[Annotated[Decimal, "DECIMAL(4, 1)"]], "ARRAY<DECIMAL(4, 1)>"),
    ],
    ids=str,
)
def test_a_hint_is_a_type(hint: Any, expected: str) -> None:
    assert str(type_of_hint(hint)) == expected


@pytest.mark.parametrize(
    ("hint", "advice"),
    [
        (Decimal, r"result_type='DECIMAL\(10, 2\)'"),
        (list, r"list\[int\]"),
        (object, "result_type="),
        (int | str, "result_type="),
        (list[Decimal], "DECIMAL"),
    ],
    ids=str,
)
def test_a_hint_that_tells_no_type_is_refused(hint: Any, advice: str) -> None:
    with pytest.raises(FunctionError, match="does not tell an SQL type") as caught:
        type_of_hint(hint)
    assert re.search(advice, str(caught.value.hint))


def test_types_as_people_write_them() -> None:
    assert (
        str(sql_type("row<userId int not null, tags array<string>>"))
        == "ROW<`userId` INT NOT NULL, `tags` ARRAY<STRING>>"
    )
    assert [str(sql_type(each)) for each in ("VARCHAR", "ARRAY<VARBINARY>", "CHAR", "BINARY")] == [
        "STRING", "ARRAY<BYTES>", "CHAR(1)", "BINARY(1)",
    ]  # fmt: skip
    with pytest.raises(FunctionError, match="not a type"):
        sql_type("NUMBR")


@pytest.mark.parametrize(
    ("hint", "expected"), [(int, False), (int | None, True), (Any, True), (Annotated[int | None, "INT"], True)], ids=str
)
def test_who_takes_none(hint: Any, expected: bool) -> None:
    assert is_nullable(hint) is expected
