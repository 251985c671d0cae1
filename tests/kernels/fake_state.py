"""In-memory `State` and `Context`, so that kernels run without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import schema_of
from execnodes.state.operator import BUCKET, DRAINED, Operator, StateSpec, empty_output


class FakeState:
    """One named state of one key group; checks what the runtime would break on."""

    def __init__(self, spec: StateSpec) -> None:
        """Empty state of that layout."""
        self.spec = spec
        self.frame = pl.DataFrame(schema=spec.schema)
        self._address = [BUCKET, HASH] if spec.bucketed else [HASH]
        self._asked: pl.DataFrame | None = None

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """All rows at these addresses."""
        self._asked = addresses.select(self._address)
        return self.frame.join(self._asked, on=self._address, how="semi")

    def write(self, rows: pl.DataFrame) -> None:
        """Put rows in place of those at the addresses of the last read."""
        self._check(rows)
        assert self._asked is not None, f"{self.spec.name}: written without having been read"
        strange = rows.join(self._asked, on=self._address, how="anti")
        assert strange.is_empty(), f"{self.spec.name}: rows written to addresses that were not read: {strange}"
        others = self.frame.join(self._asked, on=self._address, how="anti")
        self.frame = pl.concat([others, rows.select(self.frame.columns)])
        self._asked = None

    def append(self, rows: pl.DataFrame) -> None:
        """Add rows."""
        self._check(rows)
        self.frame = pl.concat([self.frame, rows.select(self.frame.columns)])

    def begin(self) -> None:
        """A new batch opens the state anew and knows of no address read."""
        self._asked = None

    def expire(self, until: int) -> pl.DataFrame:
        """Take out all rows whose bucket is <= `until`."""
        assert self.spec.bucketed, f"{self.spec.name} has no buckets"
        gone = self.frame.filter(pl.col(BUCKET) <= until)
        self.frame = self.frame.filter(pl.col(BUCKET) > until)
        return gone

    def scan(self) -> pl.DataFrame:
        """All rows."""
        assert self.spec.bucketed, f"{self.spec.name} has no buckets"
        return self.frame

    def buckets(self) -> Sequence[int]:
        """Buckets that hold rows, ascending."""
        assert self.spec.bucketed, f"{self.spec.name} has no buckets"
        return self.frame[BUCKET].unique().sort().to_list()

    def _check(self, rows: pl.DataFrame) -> None:
        expected = dict(self.spec.schema)
        assert dict(rows.schema) == expected or {name: rows.schema[name] for name in expected} == expected, (
            f"{self.spec.name}: expected {expected}, got {dict(rows.schema)}"
        )
        assert not rows[HASH].null_count(), f"{self.spec.name}: null in {HASH}"


class FakeContext:
    """Context of one operator and one key group, with its states; `watermark` and `now` may be set by the test."""

    def __init__(self, operator: Operator, watermark: int | None = None, now: int = 0) -> None:
        """Fresh states of the operator."""
        self.watermark = watermark
        self.now = now
        self.states = {spec.name: FakeState(spec) for spec in operator.states}
        self.wakes: set[int] = set()
        self.counters: Counter[str] = Counter()

    def state(self, name: str) -> FakeState:
        """One of the declared states."""
        return self.states[name]

    def wake_at(self, watermark: int) -> None:
        """Remember a wake-up."""
        assert watermark < DRAINED, f"wake-up at {watermark} would come after the end of the input"
        self.wakes.add(watermark)

    def count(self, metric: str, rows: int) -> None:
        """Add to a counter."""
        self.counters[metric] += rows


def rows_of(
    operator: Operator,
    index: int,
    rows: Sequence[Sequence[object]],
    kinds: Sequence[int] | None = None,
    watermarks: Sequence[int | None] | None = None,
    first_sequence: int = 0,
    keys: Sequence[int] = (),
) -> pl.DataFrame:
    """A frame for one input: values in kernel types, KIND (default +I), HASH of the columns `keys`, SEQUENCE counting
    from `first_sequence`, and WATERMARK if given.
    """
    frame = pl.DataFrame(rows, schema=schema_of(operator.inputs[index]), orient="row")
    hashes = [hash(tuple(row[key] for key in keys)) & 0xFFFF for row in rows]
    extra = [
        pl.Series(KIND, list(kinds) if kinds is not None else [0] * len(rows), dtype=pl.Int8),
        pl.Series(HASH, hashes, dtype=pl.Int64),
        pl.Series(SEQUENCE, range(first_sequence, first_sequence + len(rows)), dtype=pl.Int64),
    ]
    if watermarks is not None:
        extra.append(pl.Series(WATERMARK, list(watermarks), dtype=pl.Int64))
    return frame.with_columns(extra)


def run(operator: Operator, context: FakeContext, *frames: pl.DataFrame, watermark: int | None = None) -> pl.DataFrame:
    """One micro-batch as the runtime runs it: `process` under the context's watermark, then the watermark moves to
    `watermark` (if given) and `on_watermark` is called if a wake-up is due. Returns all changes.
    """
    parts = [empty_output(operator)]
    for state in context.states.values():
        state.begin()
    out = operator.process(frames, context)
    if out is not None:
        parts.append(out)
    if watermark is not None and (context.watermark is None or watermark > context.watermark):
        context.watermark = watermark
    due = {wake for wake in context.wakes if context.watermark is not None and wake <= context.watermark}
    if due:
        context.wakes -= due
        out = operator.on_watermark(context)
        if out is not None:
            parts.append(out)
    for part in parts[1:]:
        expected = schema_of(operator.output)
        assert {name: part.schema[name] for name in expected} == expected, f"output {part.schema}, expected {expected}"
        assert part.schema[KIND] == pl.Int8
    return pl.concat(parts, how="diagonal")
