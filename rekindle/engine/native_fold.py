"""A pre-aggregation that Spark makes: rows to a row a group, in slots as if a call had given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.changelog import RowKind
from execnodes.core.types import Root
from execnodes.lowering.slots import SPARK_TYPES, assign, encode
from execnodes.lowering.stream import KIND
from execnodes.state.operator import LocalKernel
from rekindle.engine.observed import REACHED, ROWS
from rekindle.pipeline.ways import Arm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEPT = "rk_kept"
"""Whether a row is folded; where rows are counted, others are there, too."""


def fold_texts(arm: Arm, kernel: LocalKernel) -> dict[str, str]:
    """Spark SQL of what `fold_natively` reads: keys k0, k1, … and columns c0, c1, …, in slots."""
    columns = list(zip(arm.types, arm.branch.columns, strict=True))
    keys = {f"k{at}": encode(*columns[key]) for at, key in enumerate(kernel.keys)}
    slots = (text if t.root is Root.BOOLEAN else encode(t, text) for t, text in columns)
    return {**keys, **{f"c{at}": text for at, text in enumerate(slots)}}


def fold_natively(rows: DataFrame, kernel: LocalKernel, *, exchanged: bool = False) -> DataFrame:
    """Row kinds, and the slots of the output, of rows (see `fold_texts`).

    `exchanged`: they are folded in the tasks that have them, and what these give is exchanged and folded once more;
    else one task folds them all.
    Rows with `REACHED` are counted: it, `ROWS` and, if they have it, `KEPT` stay beside what they are folded to.
    """
    from pyspark.sql.functions import expr

    assert kernel.native is not None
    keys = [f"k{at}" for at in range(len(kernel.keys))]
    parts = {f"a{at}": text for at, text in enumerate(kernel.native)}
    made = (expr(f"{text} AS {name}") for name, text in parts.items())
    counted = [f"max({REACHED}) AS {REACHED}"] if REACHED in rows.columns else []
    kept = [KEPT] if KEPT in rows.columns else []
    grouped = (rows if exchanged else rows.coalesce(1)).groupBy(*kept, *keys)
    folded = grouped.agg(expr(f"count(1) AS {ROWS}"), *map(expr, counted), *made)
    slots = zip((*keys, *parts), assign(column.type for column in kernel.output), strict=True)
    columns = (f"CAST({name} AS {SPARK_TYPES[slot[0]]}) AS {slot}" for name, slot in slots)
    # Without keys there is a row of no rows, too.
    beside = [*kept, REACHED, ROWS] if counted else []
    kind = f"CAST({RowKind.INSERT:d} AS TINYINT) AS {KIND}"
    return folded.where(f"{ROWS} > 0").selectExpr(kind, *beside, *columns)
