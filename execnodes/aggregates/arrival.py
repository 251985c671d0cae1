"""FIRST_VALUE and LAST_VALUE: by order of arrival, without NULLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, result_alone, same

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall


def _picked(name: str, pick: str, accumulator: str) -> AggregateFunction:
    def spark_text(call: SparkCall) -> str:
        from execnodes.common.batch import ARRIVAL

        return call.over(pick, ARRIVAL, before=f"{call.value}, ", distinct=False, where=f"{call.value} IS NOT NULL")

    return AggregateFunction(
        name=name,
        result=same,
        mergeable=False,
        order_dependent=True,
        keeps=result_alone(name.partition("_")[0].lower()),
        accumulator=accumulator,
        spark=spark_text,
    )


PICKED = (
    _picked("FIRST_VALUE", "min_by", "arrival:FirstValue"),
    _picked("LAST_VALUE", "max_by", "arrival:LastValue"),
)
