"""What today's code makes of recorded inputs, and where that is not what was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from execnodes.core.expressions import Call, Expression, walk
from execnodes.intended_changes import INTENDED_CHANGES
from tests.net.cells import evaluate
from tests.net.records import Record
from tests.net.work import lowered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXPRESSION: TypeAdapter[Expression] = TypeAdapter(Expression)


@dataclass(frozen=True)
class Difference:
    """A value that is not what the release gave."""

    record: Record
    row: int
    """From 0; its values stand in `edge_values`."""
    now: str | None

    def __str__(self) -> str:
        then = self.record["values"][self.row]
        record = f"{self.record['sql']} ({self.record['release']}, {self.record['zone']})"
        return f"{record}, row {self.row}: {then} then, {self.now} now"

    @property
    def intended(self) -> bool:
        """Whether the list of intended changes has it."""
        calls = [
            each for each in walk(_EXPRESSION.validate_python(self.record["expression"])) if isinstance(each, Call)
        ]
        return any(
            call.internal_name == change.component and (change.concerns_call is None or change.concerns_call(call))
            for change in INTENDED_CHANGES
            for call in calls
        )


def differences(spark: SparkSession, records: Iterable[Record]) -> list[Difference]:
    """All there are, intended or not."""
    held = list(records)
    found = evaluate(spark, [lowered(each, each["zone"]) for each in held])
    return [
        Difference(record, row, now)
        for record, cells in zip(held, found, strict=True)
        for row, (then, now) in enumerate(zip(record["values"], cells, strict=True))
        if then != now
    ]
