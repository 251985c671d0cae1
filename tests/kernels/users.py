"""Aggregate functions of the user for tests of kernels that take them beside those of the system."""

from __future__ import annotations

from typing import Any, TypeVar

from execnodes.core.expressions import AggregateCall
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.state.operator import Operator
from execnodes.state.serializers.make import serializer_of
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.loading import definition_of
from rekindle.udf import AggregateFunction, udaf

Made = TypeVar("Made", bound=Operator)


class Texts(AggregateFunction):
    """All values in order, NULL as well: nothing of it can be taken back."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"texts": []}

    def accumulate(self, accumulator: dict[str, Any], value: int | None) -> None:
        accumulator["texts"].append(str(value))

    def get_value(self, accumulator: dict[str, Any]) -> str:
        return " ".join(accumulator["texts"])

    def get_accumulator_type(self) -> str:
        return "ROW<texts ARRAY<STRING>>"


@udaf(result_type="BIGINT", func_type="pandas")
class Least(AggregateFunction):
    """Whole series; an accumulator that is not changed in place."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"least": None}

    def accumulate(self, accumulator: dict[str, Any], values: Any) -> dict[str, Any]:
        known = [int(each) for each in values.dropna()] + [e for e in accumulator.values() if e is not None]
        return {"least": min(known) if known else None}

    def get_value(self, accumulator: dict[str, Any]) -> Any:
        return accumulator["least"]

    def get_accumulator_type(self) -> str:
        return "ROW<least BIGINT>"


class Total(AggregateFunction):
    """Rows can be taken back; those with NULL are not seen."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"total": 0, "count": 0}

    def accumulate(self, accumulator: dict[str, Any], value: int) -> None:
        accumulator["total"] += value
        accumulator["count"] += 1

    def retract(self, accumulator: dict[str, Any], value: int) -> None:
        accumulator["total"] -= value
        accumulator["count"] -= 1

    def get_value(self, accumulator: dict[str, Any]) -> int | None:
        return accumulator["total"] if accumulator["count"] else None

    def get_accumulator_type(self) -> str:
        return "ROW<total BIGINT, `count` BIGINT>"


FUNCTIONS = {"texts": Texts, "least": Least, "total": Total}
USERS = {name: definition_of(function, name) for name, function in FUNCTIONS.items()}


def user_call(name: str, call: AggregateCall) -> AggregateCall:
    """The call, of a function of the user instead of its own."""
    definition = USERS[name]
    assert isinstance(definition, AggregateDefinition)
    parts = {"accumulator": serializer_of(definition).schema(), "retractable": definition.retractable}
    return call.model_copy(update={"internal_name": "", "system_name": name, "type": definition.result, **parts})


def supplied(operator: Made) -> Made:
    """The operator with the functions."""
    if isinstance(operator, CallsFunctions):
        operator.supply(USERS)
    return operator
