"""How a node says what runs: its output columns as Spark SQL text over the columns of an origin.

An *origin* is a source or a stateful operator; everything stateless between an origin and the next stateful operator
(or sink) is composed into *branches*, and the runtime turns all branches that leave one stage into a single projection.
So a node that feeds two consumers still runs once, and scalar work never leaves the JVM.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from execnodes.core.changelog import RowKind
from execnodes.core.types import LogicalType
from execnodes.lowering.words import with_word

if TYPE_CHECKING:
    from execnodes.core.expressions import Expression, Literal
    from execnodes.core.node import ExecNode
    from execnodes.core.sink_node import SinkNode
    from execnodes.core.tables import TableReference
    from execnodes.state.kernel_types import Column
    from execnodes.state.operator import LocalKernel, Operator

KIND = "rk_kind"
"""Row kind of a row, 0 to 3 (`RowKind`); in an operator's input the number of the input times 4 is added."""
FIRED = 8
"""Added to the row kind of rows that an operator gave when the watermark woke it: they stand before that watermark, so
that an operator below, which sees the same watermark in the same micro-batch, must not take them for late."""
SEQUENCE = "rk_seq"
"""Order of a row inside its micro-batch; together with `MAJOR` unique."""
MAJOR = "rk_major"
"""Leading part of the order: the file a row came from. Text."""
WATERMARK = "rk_wm"
"""Watermark before the row in epoch milliseconds; only with `table.exec.lateness.granularity` = row."""
HASH = "rk_hash"
"""64-bit hash of the key."""


ACTIVE = "rk_active"
"""Stands in a text for the condition under which a row is the caller's; others never reach functions of the user.

Spark computes Python functions for all rows of a projection, also where a CASE around them is not taken.
"""
_LONGEST = 4_000
_DEEPEST = 60
"""Characters, and parentheses in each other, of a text that may be put into other texts."""


@dataclass(frozen=True, slots=True)
class Made:
    """A column that is computed on the way."""

    name: str
    origin: int
    """Only rows of this node have it."""
    text: str

    @staticmethod
    def of(origin: int, text: str) -> Made:
        """Equal texts over the rows of one node are one column."""
        return Made(_made_name(f"{origin}:{text}"), origin, text)

    @staticmethod
    def once(origin: int, text: str, place: str) -> Made:
        """A column of its own, whatever its text: RAND has another value at each place where it is written."""
        return Made(_made_name(f"{origin}:{place}:{text}"), origin, text)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Which values differ each time they are computed, and so are computed once for all that read them."""

    owner: int
    """Node id of what computes them."""
    columns: tuple[int, ...] = ()
    """Output columns with such a value."""


@dataclass(frozen=True, slots=True)
class Members(Made):
    """A column with one member of an array: a row becomes as many as the array, whose text this is, has members.

    Where it is NULL, a row is not one of them. Members themselves, ROWs, are never NULL.
    """

    after: tuple[str, ...]
    """Names of the columns of members that the way has before this one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way rows take from an origin; all texts are Spark SQL over the origin's columns."""

    origin: int
    """Node id of the source or stateful operator the rows come from."""
    columns: tuple[str, ...]
    """The output columns."""
    condition: str | None = None
    """Only rows for which it is TRUE take this way."""
    kind: str | None = None
    """Text of the row kind; None: every row is an INSERT."""
    made: tuple[tuple[Made, ...], ...] = ()
    """Columns that are computed beside the origin's, one layer after the other; all texts may name them."""

    def settled(self) -> Branch:
        """The same way, with columns in place of long texts: a text that is put into others would grow without end."""
        if not any(map(_is_long, (*self.columns, self.condition or ""))):
            return self
        branch = self._with_condition_made()
        guarded = tuple(text if _SAFE.fullmatch(text) else branch._guarded(text) for text in self.columns)
        made, columns = branch._with_layer(branch.made, guarded)
        return replace(branch, columns=columns, made=made)

    def fixed(self, columns: Collection[int], place: str) -> Branch:
        """The same way, with these columns computed once for all that read them; `place` names them apart."""
        if not columns:
            return self
        branch = self._with_condition_made()
        texts = {at: branch._guarded(self.columns[at]) for at in columns}
        layer = {at: Made.once(self.origin, text, f"{place}:{at}") for at, text in texts.items()}
        names = tuple(layer[at].name if at in layer else text for at, text in enumerate(self.columns))
        return replace(branch, columns=names, made=(*branch.made, tuple(layer.values())))

    def narrowed(self, condition: str, place: str | None = None) -> Branch:
        """Only the rows for which the text is TRUE; with `place`, it is computed once for all that read it."""
        branch = self
        if place is not None:
            branch = self._with_condition_made()
            test = Made.once(self.origin, branch._guarded(condition), place)
            branch, condition = replace(branch, made=(*branch.made, (test,))), test.name
        both = condition if branch.condition is None else f"({branch.condition}) AND ({condition})"
        return replace(branch, condition=both)

    def _with_condition_made(self) -> Branch:
        if self.condition is None:
            return self
        made, (condition,) = self._with_layer(self.made, (self.condition,))
        return replace(self, condition=condition, made=made)

    def _guarded(self, text: str) -> str:
        """The text for rows of this way: others must not be computed, what is divided by zero there would fail."""
        if self.condition is None:
            return text
        return f"CASE WHEN {self.condition} THEN {with_word(text, ACTIVE, f'({ACTIVE} AND {self.condition})')} END"

    def unnested(
        self,
        table: Callable[[tuple[str, ...]], str],
        filled: Callable[[str], str],
        fields: Callable[[str], tuple[str, ...]],
        place: str | None = None,
    ) -> Branch:
        """See `Rows.unnested`; with `place`, the array is computed once for all that read it."""
        branch = self.settled()._with_condition_made()
        made, condition = branch.made, branch.condition
        text = branch._guarded(table(branch.columns))
        if place is None:
            made, (text,) = branch._with_layer(made, (text,))
        else:
            array = Made.once(self.origin, text, place)
            made, text = (*made, (array,)), array.name
        text = filled(text) if condition is None else f"CASE WHEN {condition} THEN {filled(text)} END"
        after = tuple(each.name for layer in made for each in layer if isinstance(each, Members))
        # The members of one array can be joined twice: these are two columns.
        name = Made.of(self.origin, f"members of {text} after {after}").name
        return replace(
            branch,
            columns=(*branch.columns, *fields(name)),
            condition=f"{name} IS NOT NULL",
            made=(*made, (Members(name, self.origin, text, after),)),
        )

    def _with_layer(
        self, made: tuple[tuple[Made, ...], ...], texts: tuple[str, ...]
    ) -> tuple[tuple[tuple[Made, ...], ...], tuple[str, ...]]:
        """One layer more, and the names of its columns; a column that has a name already keeps it."""
        layer = {text: Made.of(self.origin, text) for text in texts if not _SAFE.fullmatch(text)}
        names = tuple(layer[text].name if text in layer else text for text in texts)
        return ((*made, tuple(layer.values())) if layer else made), names


@dataclass(frozen=True, slots=True)
class Rows:
    """Output of a node while it is being lowered."""

    type: LogicalType
    """A ROW."""
    branches: tuple[Branch, ...]

    def project(
        self, type: LogicalType, columns: Callable[[tuple[str, ...]], tuple[str, ...]], fixed: Fixed | None = None
    ) -> Rows:
        """New columns, made from the texts of the present ones."""
        settled = (each.settled() for each in self.branches)
        branches = (replace(each, columns=columns(each.columns)) for each in settled)
        if fixed is not None:
            branches = (each.fixed(fixed.columns, f"{fixed.owner}:{at}") for at, each in enumerate(branches))
        return Rows(type, tuple(branches))

    def unnested(
        self,
        type: LogicalType,
        table: Callable[[tuple[str, ...]], str],
        filled: Callable[[str], str],
        fields: Callable[[str], tuple[str, ...]],
        fixed: Fixed | None = None,
    ) -> Rows:
        """Each row once for each member of an array, with the member's fields behind its own columns.

        `table` gives the array, of the texts of the columns; `filled` what stands for the array of this name, if that
        is to be another one where it is empty; `fields` the columns of a member of this name. `fixed`: the array
        differs each time it is computed.
        """
        places = [None if fixed is None else f"{fixed.owner}:{at}:array" for at in range(len(self.branches))]
        ways = zip(self.branches, places, strict=True)
        return Rows(type, tuple(each.unnested(table, filled, fields, place) for each, place in ways))

    def where(self, condition: Callable[[Branch], str], fixed: Fixed | None = None) -> Rows:
        """Only the rows for which the text is TRUE; `fixed`: it differs each time it is computed."""
        settled = [each.settled() for each in self.branches]
        places = [None if fixed is None else f"{fixed.owner}:{at}:condition" for at in range(len(settled))]
        ways = zip(settled, places, strict=True)
        return Rows(self.type, tuple(each.narrowed(condition(each), place) for each, place in ways))


@dataclass(frozen=True, slots=True)
class OperatorInput:
    """One input of a stateful operator."""

    rows: Rows
    keys: tuple[int, ...]
    """Columns that decide the key group; none: all rows go to one."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a scan asks of the rows of a table."""

    reads: frozenset[int]
    """Columns, by their places in what is read."""
    text: Callable[[tuple[str, ...]], str]
    """Its Spark SQL, from the texts of the columns."""


class Lowering(Protocol):
    """What the runtime offers to nodes."""

    zone: str
    """Session time zone of the plan."""

    def scan(
        self, node: ExecNode, table: TableReference, produced: LogicalType, condition: Condition | None = None
    ) -> Rows:
        """Read a table: physical and metadata columns in the order of `produced`, rows that `condition` asks for."""
        ...

    def values(self, node: ExecNode, tuples: tuple[tuple[Literal, ...], ...], produced: LogicalType) -> Rows:
        """Inline rows, given once."""
        ...

    def assign_watermark(
        self,
        node: ExecNode,
        rows: Rows,
        value: Expression,
        watermark: Callable[[Branch], str],
        by_row: Callable[[tuple[Column, ...]], Operator],
    ) -> Rows:
        """Declare the event time of rows that come from a source; `value` is the watermark (a TIMESTAMP or an instant)
        that a row moves the stream to, and `watermark` gives its text. Where rows carry their watermark, the operator
        that `by_row` makes of their columns gives it: it reads them and, last, the watermark each moves the stream to.
        """
        ...

    def operator(self, node: ExecNode, operator: Operator, inputs: tuple[OperatorInput, ...]) -> Rows:
        """Run a stateful operator; its output columns have the types of `operator.output`."""
        ...

    def pre_aggregate(self, node: ExecNode, kernel: LocalKernel, rows: Rows) -> Rows:
        """Fold rows in the task they are in, before an exchange."""
        ...

    def sink(self, node: SinkNode, table: TableReference, rows: Rows) -> None:
        """Write rows into a table."""
        ...


def quote(name: str) -> str:
    """A Spark SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def _made_name(content: str) -> str:
    return f"rk_made_{hashlib.sha256(content.encode()).hexdigest()[:16]}"


_SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d+|`[^`]*`")


def _is_long(text: str) -> bool:
    if len(text) <= 2 * _DEEPEST:
        return False
    if len(text) > _LONGEST:
        return True
    depth = deepest = 0
    for each in text:
        depth += (each == "(") - (each == ")")
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def wrap(text: str) -> str:
    """Parentheses, unless the text is a plain name or number."""
    return text if _SAFE.fullmatch(text) else f"({text})"


def without_update_before(rows: Rows) -> Rows:
    """No -U rows; branches of plain INSERTs stay as they are."""
    if all(branch.kind is None for branch in rows.branches):
        return rows

    def keep(branch: Branch) -> str:
        return "TRUE" if branch.kind is None else f"{wrap(branch.kind)} <> {int(RowKind.UPDATE_BEFORE)}"

    return rows.where(keep)
