"""Reads the matrix with the formats themselves: all types of a nesting at once, a line a text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from execnodes.core.tables import Column
from execnodes.core.types import LogicalType, parse_type
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.formats import find_format
from rekindle.connectors.options import TableOptions, check_options
from tests.formats.compare import LOST, numbers, sentinel
from tests.formats.matrix import Case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FAILURES = (
    ("json_text", "false"), ("formats.csv", "false"), ("formats.debezium_json", "array()"),
    ("formats.canal_json", "array()"),
)  # fmt: skip
"""What stands for the failure of a line, by the modules that make it."""


def options_of(kind: str, **given: str) -> TableOptions:
    """Options of a format, checked."""
    chosen = find_format(kind, "t")
    return check_options(
        {f"{kind}.{key.replace('_', '-')}": v for key, v in given.items()}, chosen.options, "source", "t"
    )


def line_of(cases: Sequence[Case]) -> str:
    """One record with the values of all the cases, which have the same text."""
    inner = [each.value() for each in cases]
    if cases[0].format == "csv":
        return ",".join(inner)
    fields = ", ".join(f'"c{at}": {each}' for at, each in enumerate(inner))
    match cases[0].format:
        case "json":
            return f"{{{fields}}}"
        case "debezium-json":
            return f'{{"before": null, "after": {{{fields}}}, "op": "c"}}'
        case _:
            # A record of Canal.
            return f'{{"data": [{{{fields}}}], "type": "INSERT"}}'


def frame_of_lines(spark: SparkSession, lines: Sequence[str]) -> DataFrame:
    """What decoders are given, and the number of each line."""
    return spark.createDataFrame(
        [(n, line, "mem") for n, line in enumerate(lines)], "n INT, value STRING, rk_path STRING"
    )


def _bad_value(t: LogicalType, field: str, found: str, *, ignore: bool, option: str) -> str:
    """What stands for the failure of a value."""
    return "NULL" if ignore else sentinel(t)


def read_matrix(spark: SparkSession, cases: Sequence[Case], *, strict: bool) -> dict[Case, Any]:
    """What a format makes of cases of one nesting: a value of Arrow's, LOST where there is no row."""
    chosen = find_format(cases[0].format, "t")
    assert isinstance(chosen, RecordFormat)
    by_text: dict[str, list[Case]] = {}
    for each in cases:
        by_text.setdefault(each.text, []).append(each)
    groups = list(by_text.values())
    kinds = [each.column for each in groups[0]]
    columns = tuple(Column(name=f"c{at}", data_type=parse_type(kind)) for at, kind in enumerate(kinds))
    rows = frame_of_lines(spark, [line_of(each) for each in groups])
    options = options_of(cases[0].format, ignore_parse_errors=str(not strict).lower())

    with ExitStack() as patches:
        for name, text in _FAILURES:
            patches.enter_context(patch(f"rekindle.connectors.{name}.failure", return_value=text))
        for name in ("json_text", "json_rules", "formats.csv"):
            patches.enter_context(patch(f"rekindle.connectors.{name}.bad_value", _bad_value))
        decoded = chosen.decode(rows, options, Wanted(columns, columns, ("n",)))
    table = decoded.toArrow()
    found = {name: table.column(name).cast(numbers(table.column(name).type)).to_pylist() for name in table.column_names}
    ours: dict[Case, Any] = dict.fromkeys(cases, LOST)
    for at, number in enumerate(found["n"]):
        for place, each in enumerate(groups[number]):
            ours[each] = found[f"c{place}"][at]
    return ours
