"""VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP: of a sample of one value they are NULL."""

from __future__ import annotations

from execnodes.aggregates.function import AggregateFunction, numeric
from execnodes.aggregates.sums import average_type
from execnodes.core.types import BIGINT, DOUBLE


def _variance(name: str, alias: str = "") -> AggregateFunction:
    return AggregateFunction(
        name=name,
        aliases=(alias,) if alias else (),
        result=average_type,
        takes=numeric,
        nullable=True if name.endswith("SAMP") else None,
        merges_removals=False,
        keeps=lambda call, arg, retract: (("count", BIGINT), ("mean", DOUBLE), ("m2", DOUBLE)),
        accumulator="variance:Variance",
        spark=lambda call: call.over(name.lower(), f"CAST({call.value} AS DOUBLE)"),
    )


VARIANCES = (
    _variance("VAR_POP"),
    _variance("VAR_SAMP", "VARIANCE"),
    _variance("STDDEV_POP"),
    _variance("STDDEV_SAMP", "STDDEV"),
)
