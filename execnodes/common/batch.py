"""How a batch node says what runs: DataFrames in, a DataFrame out (docs/decisions/0006-batch-nodes-as-dataframes.md).

A frame between nodes has the columns c0, c1, …; names and types of the plan stand beside it. As long as rows are those
of a file, columns that say of which line stay behind them: Spark reads those only for what fails.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from execnodes.core.async_options import options_of
from execnodes.core.expressions import Expression
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import WATERMARK, Lowering, Rows
from execnodes.lowering.user_calls import activated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from execnodes.core.expressions import Literal
    from execnodes.core.sort_spec import SortSpec
    from execnodes.core.tables import TableReference

ARRIVAL = "rk_seq"
"""Number of a row in the order in which Spark reads its input, where a node tells rows apart by it."""


@dataclass(frozen=True, slots=True)
class BatchRows:
    """Output of a node."""

    type: LogicalType
    """A ROW."""
    frame: DataFrame
    """Columns c0, c1, … of the Spark types that hold the fields of `type`, then `origin`."""
    origin: tuple[str, ...] = ()
    """Columns that say where a row is from."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the frame's columns."""
        return column_names(len(self.type.fields))

    def project(self, type: LogicalType, texts: Sequence[str]) -> BatchRows:
        """New columns, as Spark SQL over the present ones."""
        return BatchRows(type, self.frame.selectExpr(*aliased(texts), *self.origin), self.origin)

    def plain(self) -> BatchRows:
        """The same rows, and no longer where they are from."""
        return BatchRows(self.type, self.frame.select(*self.columns)) if self.origin else self

    def numbered(self) -> DataFrame:
        """The frame with the column `ARRIVAL` behind its own."""
        return self.frame.selectExpr("*", f"monotonically_increasing_id() AS {ARRIVAL}")


class BatchLowering(Protocol):
    """What the runtime offers to batch nodes."""

    def scan(self, node: ExecNode, table: TableReference, produced: LogicalType) -> DataFrame:
        """All rows of a table: physical and metadata columns in the order of `produced`, as c0, c1, …."""
        ...

    def values(self, node: ExecNode, tuples: tuple[tuple[Literal, ...], ...], produced: LogicalType) -> DataFrame:
        """Inline rows."""
        ...

    def sink(self, node: ExecNode, table: TableReference, rows: BatchRows, *, overwrite: bool) -> None:
        """Write rows into a table, beside what it holds or instead of it."""
        ...


class BatchNode(ExecNode):
    """A node of a plan that reads all of its input, gives rows once, and keeps nothing."""

    @property
    def keeps_rows(self) -> bool:
        """Whether a row is made of one row of the input alone, in the task that reads that.

        Then it is as well known where it is from, and nothing more is sent between tasks for it.
        """
        return False

    @property
    def folds_frames(self) -> bool:
        """Whether its aggregate functions of the user are over the frames of a partition, else over groups."""
        return False

    @abstractmethod
    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The node's rows from those of its inputs."""

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Never part of a streaming plan; PlanError."""
        raise self.fail("a batch node cannot run in a streaming plan", "Compile the statement anew.")

    def texts(self, expressions: Sequence[Expression], columns: Sequence[str]) -> list[str]:
        """Spark SQL of expressions over columns, in the zone the plan was compiled for."""
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        zone = self.configuration.get("table.local-time-zone", "UTC")
        options = options_of(self)
        made = [activated(functions.lower(each, columns, zone, calls=options)) for each in expressions]
        if any(WATERMARK in text for text in made):
            raise self.fail("CURRENT_WATERMARK has no value in batch mode: there are no watermarks")
        return made

    def calculated(self, rows: BatchRows, projection: Sequence[Expression], condition: Expression | None) -> BatchRows:
        """What calcs do: the condition reads input columns, so it comes before they are replaced."""
        if condition is not None:
            (kept,) = self.texts([condition], rows.columns)
            rows = replace(rows, frame=rows.frame.where(kept))
        return rows.project(self.output_type, self.texts(projection, rows.columns))


def column_names(width: int, first: int = 0) -> tuple[str, ...]:
    """Columns ``c0``, ``c1`` and so on."""
    return tuple(f"c{at}" for at in range(first, first + width))


def aliased(texts: Sequence[str], first: int = 0) -> list[str]:
    """Texts as columns c0, c1, … of a frame."""
    return [text if text == f"c{at}" else f"{text} AS c{at}" for at, text in enumerate(texts, first)]


def renamed(rows: BatchRows, first: int) -> DataFrame:
    """The frame with columns that count from `first`, so that it can stand right of another one in a join."""
    return rows.frame.selectExpr(*aliased(rows.columns, first))


def exploded(
    rows: BatchRows, ways: Sequence[Sequence[str]], type: LogicalType, conditions: Sequence[str] = ()
) -> BatchRows:
    """Each row several times, once for each list of texts; with `conditions` only where that of the list is TRUE."""
    parts = []
    for texts in ways:
        cells = ", ".join(f"'c{at}', {text}" for at, text in enumerate(texts))
        parts.append(f"named_struct({cells})")
    if conditions:
        parts = [f"CASE WHEN {each} THEN {part} END" for each, part in zip(conditions, parts, strict=True)]
        made = f"inline(array_compact(array({', '.join(parts)})))"
    else:
        made = f"inline(array({', '.join(parts)}))"
    return BatchRows(type, rows.frame.selectExpr(made, *rows.origin), rows.origin)


def in_order(frame: DataFrame, sort: SortSpec) -> DataFrame:
    """The frame sorted as a whole."""
    from pyspark.sql import functions as spark

    columns = []
    for each in sort.fields:
        column = spark.col(f"c{each.index}")
        ordered = (column.asc_nulls_first, column.asc_nulls_last, column.desc_nulls_first, column.desc_nulls_last)
        columns.append(ordered[2 * (not each.is_ascending) + each.null_is_last]())
    return frame.orderBy(*columns)


def having_one(left: BatchRows, right: BatchRows, key: int, its: int, type: LogicalType) -> BatchRows:
    """The left rows whose column `key` equals the column `its` of some right row.

    The same as a SEMI join; as an IN, Spark also applies it to columns that are known to equal `key`.
    """
    found = right.frame.select(f"c{its}")
    return BatchRows(type, left.frame.where(left.frame[f"c{key}"].isin(found)))


def joined(left: BatchRows, right: BatchRows, kind: str, condition: str, type: LogicalType) -> BatchRows:
    """A join; the condition is Spark SQL over the left columns and the right ones, which count on from them.

    `kind` is INNER, LEFT, RIGHT, FULL, SEMI or ANTI.
    """
    from pyspark.sql import functions as spark

    how = {"SEMI": "left_semi", "ANTI": "left_anti"}.get(kind, kind.lower())
    frame = left.frame.join(renamed(right, len(left.type.fields)), spark.expr(condition), how)
    return BatchRows(type, frame)
