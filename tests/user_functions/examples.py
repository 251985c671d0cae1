"""Functions that tests register by class name."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from rekindle.udf import FunctionContext, ScalarFunction, udf


@dataclass
class Point:
    x: int
    label: str | None


@udf
def shifted(point: Point, by: int) -> Point:
    return Point(point.x + by, point.label)


@udf
def point(x: int, label: str | None) -> Point:
    return Point(x, label)


@udf
def shout(text: str) -> str:
    return text.upper() + "!"


@udf
def or_else(text: str | None, other: str) -> str:
    return other if text is None else text


@udf(result_type="BIGINT", func_type="pandas")
def plus(left: Any, right: Any) -> Any:
    return left + right


@udf
def a_day_later(day: datetime.date) -> datetime.date:
    return day + datetime.timedelta(days=1)


class Divide(ScalarFunction):
    """Opened in the worker."""

    def open(self, context: FunctionContext) -> None:
        self.thousand = 1000

    def eval(self, by: int) -> int:
        return self.thousand // by


def bare(value: int) -> int:
    return value


def untyped(value):  # type: ignore[no-untyped-def]
    return value
