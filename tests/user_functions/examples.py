"""Functions that tests register by class name."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rekindle.udf import AggregateFunction, FunctionContext, ScalarFunction, TableFunction, udaf, udf, udtf


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


@dataclass
class MeanState:
    total: float = 0.0
    weight: float = 0.0


class WeightedMean(AggregateFunction):
    """A dataclass as state; rows with NULL are not seen."""

    def create_accumulator(self) -> MeanState:
        return MeanState()

    def accumulate(self, accumulator: MeanState, value: float, weight: float) -> None:
        accumulator.total += value * weight
        accumulator.weight += weight

    def retract(self, accumulator: MeanState, value: float, weight: float) -> None:
        accumulator.total -= value * weight
        accumulator.weight -= weight

    def get_value(self, accumulator: MeanState) -> float | None:
        return accumulator.total / accumulator.weight if accumulator.weight else None


class Latest(AggregateFunction):
    """A ROW as state, and accumulators that are not changed in place; nothing can be taken back."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"values": [], "last": None}

    def accumulate(self, accumulator: dict[str, Any], value: str | None) -> dict[str, Any]:
        return {"values": [*accumulator["values"], value], "last": value}

    def get_value(self, accumulator: dict[str, Any]) -> list[str]:
        return list(accumulator["values"][-2:])

    def get_accumulator_type(self) -> str:
        return "ROW<`values` ARRAY<STRING>, `last` STRING>"


@udaf(result_type="BIGINT", func_type="pandas")
class Spread(AggregateFunction):
    """Whole series at once."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"least": None, "most": None}

    def accumulate(self, accumulator: dict[str, Any], values: Any) -> None:
        present = values.dropna()
        if len(present):
            known = [each for each in accumulator.values() if each is not None]
            accumulator["least"] = int(min(present.min(), *known)) if known else int(present.min())
            accumulator["most"] = int(max(present.max(), *known)) if known else int(present.max())

    def get_value(self, accumulator: dict[str, Any]) -> Any:
        return None if accumulator["most"] is None else accumulator["most"] - accumulator["least"]

    def get_accumulator_type(self) -> str:
        return "ROW<least BIGINT, most BIGINT>"


class Distinct(AggregateFunction):
    """A set: only pickle can write it."""

    def create_accumulator(self) -> set[str]:
        return set()

    def accumulate(self, accumulator: set[str], value: str) -> None:
        accumulator.add(value)

    def get_value(self, accumulator: set[str]) -> int:
        return len(accumulator)


@udf
async def asked(value: int) -> int | None:
    await asyncio.sleep(0)
    return None if value == 1 else value + 1


@udf
async def refuses(value: int) -> int:
    if value == 5:
        raise OSError("no")
    return value


@udtf
def words(text: str) -> Iterator[tuple[str, int]]:
    for each in text.split():
        yield each, len(each)


@udtf(result_types=["TIMESTAMP_LTZ(3)", "TIME(3)", "DECIMAL(6, 2)", "MAP<STRING, INT>", "INTERVAL SECOND"])
def kinds(of: int) -> Any:
    instant = datetime.datetime(2020, 1, of, tzinfo=datetime.UTC)
    return instant, datetime.time(of), Decimal(of), {"of": of}, datetime.timedelta(days=of)


@udf(result_type="TIMESTAMP_LTZ(3)")
def at_noon(of: int) -> Any:
    return datetime.datetime(2020, 1, of, 12, tzinfo=datetime.UTC)


@udtf
def thousandth(by: int) -> Iterator[int]:
    yield 1000 // by


class Pieces(TableFunction):
    """Opened in the worker; a class gives what is hinted."""

    def open(self, context: FunctionContext) -> None:
        self.step = 1

    def eval(self, text: str) -> Iterator[str]:
        yield from (text[at : at + getattr(self, "step", 1)] for at in range(len(text)))
