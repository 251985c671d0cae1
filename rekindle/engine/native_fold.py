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


def fold_natively(rows: DataFrame, kernel: LocalKernel) -> DataFrame:
    """Row kinds, and the slots of the output, of rows (see `fold_texts`), beside their keys.

    Rows of several tasks are folded in these, and what they give is exchanged and folded once more.
    Rows with `REACHED` are counted: it, `ROWS` and, if they have it, `KEPT` stay beside what they are folded to.
    """
    from pyspark.sql.functions import expr

    assert kernel.native is not None
    keys = [f"k{at}" for at in range(len(kernel.keys))]
    kept = [KEPT] if KEPT in rows.columns else []
    slots = zip((*keys, *kernel.native), assign(column.type for column in kernel.output), strict=True)
    made = [f"CAST({text} AS {SPARK_TYPES[slot[0]]}) AS {slot}" for text, slot in slots]
    made.append(f"CAST({RowKind.INSERT:d} AS TINYINT) AS {KIND}")
    if REACHED in rows.columns:
        made += [f"max({REACHED}) AS {REACHED}", f"count(1) AS {ROWS}"]
    elif not keys:
        made.append(f"count(1) AS {ROWS}")
    folded = rows.groupBy(*kept, *keys).agg(*map(expr, made))
    # Without keys there is a row of no rows, too.
    return folded if keys else folded.where(f"{ROWS} > 0")
