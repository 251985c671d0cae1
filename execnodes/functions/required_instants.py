"""TO_TIMESTAMP_LTZ of one text since 2.5: what is not a timestamp fails the job, as in Flink.

Versions before gave NULL. With a pattern, as TO_TIMESTAMP and TO_DATE with or without one, it is NULL in Flink, too.
"""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.types import TEXTS
from execnodes.functions.cast_numbers import checked
from execnodes.functions.cast_times import to_instant
from execnodes.functions.function import Operands
from execnodes.functions.patterns_of_columns import TO_TIMESTAMP_LTZ_5
from execnodes.functions.read_times import read_timestamp
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type


def _is_one_text(operands: Operands) -> bool:
    return len(operands) == 1 and operands[0].type.root in TEXTS


def _lower(scope: Scope, call: Call) -> str:
    if not _is_one_text(call.operands):
        return TO_TIMESTAMP_LTZ_5.lower(scope, call)

    def instant(text: str) -> str:
        local = f"date_trunc('MILLISECOND', CAST({read_timestamp(text)} AS TIMESTAMP))"
        kind = str(call.type.with_nullable(True))
        return checked(scope, text, to_instant(scope, local), kind, spark_type(call.type))

    return scope.share(scope.text(call.operands[0]), instant)


TO_TIMESTAMP_LTZ_6 = replace(TO_TIMESTAMP_LTZ_5, lower=_lower, version=6, since="2.5", only=_is_one_text)
