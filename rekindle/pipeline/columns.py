"""Columns of a frame between stages: computed layer by layer, projected, or put into the structs of several ways."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from execnodes.lowering.spark_sql import literal, spark_type
from execnodes.lowering.stream import MAJOR, SEQUENCE, Made, Members
from execnodes.lowering.user_calls import calls_functions
from rekindle.pipeline.arms import rows_of_members, unnested_by_all
from rekindle.pipeline.record import SourceRecord
from rekindle.pipeline.ways import Arm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Texts = Callable[[Arm], Mapping[str, str]]
"""Columns of the rows of an arm, by name."""


def projected(frame: DataFrame, texts: Mapping[str, str], condition: str | None) -> DataFrame:
    """The frame with columns of these names and texts, of rows for which the condition holds."""
    kept = frame if condition is None else frame.where(condition)
    return kept.selectExpr(*(text if text == name else f"{text} AS {name}" for name, text in texts.items()))


def with_all_made(frame: DataFrame, arms: tuple[Arm, ...]) -> DataFrame:
    """The frame with the columns that ways compute; layers of one depth together."""
    depths = zip_longest(*(arm.branch.made for arm in arms), fillvalue=())
    everywhere = unnested_by_all(arms)
    return with_made(frame, [tuple(chain.from_iterable(layers)) for layers in depths], everywhere)


def with_made(frame: DataFrame, layers: Iterable[tuple[Made, ...]], everywhere: Collection[Members] = ()) -> DataFrame:
    """The frame with columns computed layer by layer.

    As structs that are put apart: Spark would put the texts of columns into each other again. `everywhere`: columns of
    members that all rows of their origin become; of others, rows stay as they are beside those they become.
    """
    unnested: list[Members] = []
    for layer in layers:
        known = set(frame.columns)
        new = {each.name: each for each in layer if each.name not in known}
        single = {name: each.text for name, each in new.items() if not isinstance(each, Members)}
        # Of what Python computes in a generator, Spark loses fields of ROWs that are read behind it.
        called = {name: single.pop(name) for name in list(single) if calls_functions(single[name])}
        if single:
            frame = frame.selectExpr("*", f"inline(array({struct(single)}))")
        if called:
            frame = frame.selectExpr("*", *(f"{text} AS {name}" for name, text in called.items()))
        for each in new.values():
            if isinstance(each, Members):
                rows = rows_of_members(each, unnested, everywhere)
                frame = frame.selectExpr("*", f"{rows} AS {each.name}")
                unnested.append(each)
    return frame


def structs(arms: tuple[Arm, ...], texts: Texts) -> str:
    """The array of the structs that a row becomes on several ways."""
    parts = []
    for arm in arms:
        made = struct(texts(arm))
        parts.append(made if arm.branch.condition is None else f"CASE WHEN {arm.branch.condition} THEN {made} END")
    whole = f"array({', '.join(parts)})"
    return whole if all(arm.branch.condition is None for arm in arms) else f"array_compact({whole})"


def struct(texts: Mapping[str, str]) -> str:
    """Columns as one value."""
    cells = (f"'{name}', {text}" for name, text in texts.items())
    return f"named_struct({', '.join(cells)})"


def inline_rows(single: DataFrame, source: SourceRecord) -> DataFrame:
    """The rows of a source without a table, in order, for each row of a frame."""
    types = [field.type for field in source.produced.fields]
    if not source.tuples:
        none = (f"CAST(NULL AS {spark_type(t)}) AS c{i}" for i, t in enumerate(types))
        return single.where("false").selectExpr(*none, f"0L AS {SEQUENCE}", f"'' AS {MAJOR}")
    rows = []
    for place, values in enumerate(source.tuples):
        cells = {f"c{i}": literal(v.value, t) for i, (v, t) in enumerate(zip(values, types, strict=True))}
        rows.append(struct({**cells, SEQUENCE: f"{place}L"}))
    frame = single.selectExpr(f"inline(array({', '.join(rows)}))")
    return frame.selectExpr(*(f"c{i}" for i in range(len(types))), SEQUENCE, f"'' AS {MAJOR}")
