"""Which key group a saved row belongs to, without a JVM.

A savepoint holds no hashes; `rekindle.savepoints.restore` computes them with Spark, by the same rule.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from execnodes.core.types import NESTED, LogicalType, Root
from execnodes.engine.hashes import hashes
from execnodes.lowering.slots import slot_kind


def slot_text(t: LogicalType, name: str) -> str:
    """DuckDB SQL text of a saved value's slot: what is hashed (see `execnodes.lowering.slots.encode`)."""
    match t.root:
        case root if root in NESTED:
            return name
        case Root.DATE:
            return f"CAST({name} - DATE '1970-01-01' AS BIGINT)"
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return f"epoch_us({name})"
        case Root.DECIMAL if slot_kind(t) == "l":
            return f"CAST(replace(CAST({name} AS VARCHAR), '.', '') AS BIGINT)"
        case Root.DECIMAL:
            return f"replace(CAST({name} AS VARCHAR), '.', '')"
        case Root.FLOAT:
            return f"CAST({name} AS DOUBLE)"
        case Root.BOOLEAN:
            return f"CAST({name} AS BIGINT)"
        case _:
            # Texts, bytes and whole numbers are hashed as they are saved.
            return name


def key_groups(slots: Iterable[pa.Array], rows: int, groups: int) -> NDArray[np.int64]:
    """Key group of each row; `slots` as in `hashes`."""
    return np.mod(hashes(slots, rows), groups)
