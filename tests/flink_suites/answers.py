"""What this engine makes of the cases."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import RekindleError
from execnodes.core.types import INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, TEXTS, LogicalType, Root
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.json_values import Json, row_to_json
from tests.flink_suites.cases import Case, plain, split_map, sql_literal, type_of, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TABLE = "UnnamedTable$0"
_ANY_TABLE = re.compile(r"UnnamedTable\$\d+")
_NANOSECONDS = re.compile(r"(?<=TIMESTAMP)\([789]\)|(?<=TIMESTAMP_LTZ)\([789]\)")
"""Columns are declared with the microseconds that there are."""
_FOLDER = re.compile(rf"{re.escape(tempfile.gettempdir())}/[^/]+/")
"""The folder of one run, which the ledger does not keep."""
_UNDOES = {"-U": True, "-D": True, "+I": False, "+U": False}


def verdicts(cases: Sequence[Case], spark: SparkSession) -> Iterator[tuple[Case, str]]:
    """Each case with what is wrong about this engine's answer; empty if it passes."""
    for _, group in groupby(cases, key=lambda case: case.group):
        yield from _of_specification(list(group), spark)


def _of_specification(cases: Sequence[Case], spark: SparkSession) -> Iterator[tuple[Case, str]]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            environment = _environment(cases[0], Path(folder), spark)
        except (RekindleError, ValueError, LookupError) as error:
            yield from ((case, f"its rows cannot be given: {_first_line(error)}") for case in cases)
            return
        absent = {case: column for case in cases if (column := _absent(case)) is not None}
        yield from ((case, f"reads {name}, which is a {of}") for case, (name, of) in absent.items())
        cases = [case for case in cases if case not in absent]
        refused = {case: problem for case in cases if (problem := _refusal(case, environment)) is not None}
        run = [case for case in cases if case not in refused]
        columns = [case for case in run if not case.aggregate and not case.refused and not _is_star(case)]
        answers = _together(columns, environment)
        for case in cases:
            if case in refused:
                yield case, "" if case.refused else f"refused: {refused[case]}"
                continue
            try:
                found = answers[case] if case in answers else _rows(_query(case), environment)
            except Exception as error:  # noqa: BLE001  # whatever comes out of Spark is what the case gives
                known = isinstance(error, RekindleError)
                problem = f"fails: {_first_line(error)}"
                yield case, "" if case.refused and known else problem if known else f"not an error of ours: {problem}"
                continue
            yield case, _difference(case, *found)


def _environment(case: Case, folder: Path, spark: SparkSession) -> TableEnvironment:
    """A session with the rows of a specification as its one table."""
    mode = "streaming" if case.aggregate else "batch"
    configuration = {"execution.runtime-mode": mode, "parallelism.default": "1", **case.configuration}
    environment = TableEnvironment.create(configuration, spark=spark)
    if not case.rows:
        environment.execute_sql(f"CREATE TEMPORARY VIEW `{_TABLE}` AS SELECT * FROM (VALUES (1)) AS t (f0)")
        return environment
    columns = [
        (at, name, t)
        for at, (name, text) in enumerate(zip(case.names, case.types, strict=True))
        if (t := _known(text)) is not None
    ]
    lines = []
    for row in case.rows:
        values: dict[str, Json] = {}
        for at, name, t in columns:
            if _is_deep(t):
                continue
            if _is_split(t):
                values[f"{name}_keys"], values[f"{name}_values"] = split_map(row["row"][at], t, case.zone)
            else:
                values[_field(name, t)] = written(row["row"][at], t, case.zone)
        before, after = (values, None) if _UNDOES[row["kind"]] else (None, values)
        change = {"before": before, "after": after, "op": "d" if after is None else "c"}
        lines.append(json.dumps(change if case.aggregate else values))
    (folder / "rows.json").write_text("\n".join(lines), encoding="utf-8")
    # What no document of JSON holds stands in the table itself: a specification of such values has one row.
    first = case.rows[0]["row"]
    deep = {name: f"`{name}` AS {sql_literal(first[at], t, case.zone)}" for at, name, t in columns if _is_deep(t)}
    declared = ", ".join(deep.get(name) or _column(name, t) for _, name, t in columns)
    format = "debezium-json" if case.aggregate else "json"
    options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = '{format}'"
    environment.execute_sql(f"CREATE TABLE `{_TABLE}` ({declared}) WITH ({options})")
    return environment


def _known(text: str) -> LogicalType | None:
    """The type of a column; None for one that this engine has not got: the column is left out."""
    try:
        return type_of(_NANOSECONDS.sub("(6)", text))
    except (RekindleError, ValueError):
        return None


def _absent(case: Case) -> tuple[str, str] | None:
    """A column that is left out and that a case reads, with its type."""
    absent = ((name, of) for name, of in zip(case.names, case.types, strict=True) if _known(of) is None)
    return next((each for each in absent if re.search(rf"\b{each[0]}\b", case.sql)), None)


_UNITS = {INTERVAL_DAY_TIME.root: "INTERVAL '0.001' SECOND", INTERVAL_YEAR_MONTH.root: "INTERVAL '1' MONTH"}


def _field(name: str, t: LogicalType) -> str:
    """Where a column's values stand; intervals, which no format holds, as numbers."""
    return f"{name}_length" if t.root in _UNITS else name


def _is_split(t: LogicalType) -> bool:
    """Whether it is a map whose keys JSON cannot have."""
    return t.root is Root.MAP and t.key.root not in TEXTS


def _is_deep(t: LogicalType, top: bool = True) -> bool:
    """Whether it holds, further in, a map whose keys JSON cannot have."""
    if not top and _is_split(t):
        return True
    members = [each.type for each in t.fields] if t.root is Root.ROW else list(t.children)
    return any(_is_deep(each, top=False) for each in members)


def _column(name: str, t: LogicalType) -> str:
    if _is_split(t):
        parts = f"`{name}_keys` ARRAY<{t.key}>, `{name}_values` ARRAY<{t.element}>"
        return f"{parts}, `{name}` AS MAP_FROM_ARRAYS(`{name}_keys`, `{name}_values`)"
    if t.root in _UNITS:
        return f"`{_field(name, t)}` BIGINT, `{name}` AS `{_field(name, t)}` * {_UNITS[t.root]}"
    return f"`{name}` {t}"


def _query(*cases: Case) -> str:
    if cases[0].aggregate:
        return _ANY_TABLE.sub(f"`{_TABLE}`", cases[0].sql)
    columns = (case.sql if case.text is None or _is_star(case) else _text(case.sql) for case in cases)
    return f"SELECT {', '.join(columns)} FROM `{_TABLE}`{' AS testTable' if cases[0].text is not None else ''}"


def _is_star(case: Case) -> bool:
    """Whether it is all fields of a row, of which Flink's test looks at the first."""
    return case.text is not None and case.sql.endswith(".*")


def _text(expression: str) -> str:
    """An expression as a text, of a type that may be NULL: some of Flink's functions give NULL in spite of theirs."""
    return f"NULLIF(CAST({expression} AS STRING), '\x01')"


def _refusal(case: Case, environment: TableEnvironment) -> str | None:
    try:
        environment.compile_script(_query(case))
    except RekindleError as error:
        return _first_line(error)
    except Exception as error:  # noqa: BLE001  # a defect that the ledger is to name
        return f"not an error of ours: {_first_line(error)}"
    return None


_MOST_COLUMNS = 64


def _together(cases: Sequence[Case], environment: TableEnvironment) -> dict[Case, Any]:
    """Answers of the cases as columns of few queries; of those that fail one after the other says which it is."""
    if len(cases) < 2:
        return {}
    if len(cases) <= _MOST_COLUMNS and (found := _at_once(cases, environment)) is not None:
        return found
    half = len(cases) // 2
    return _together(cases[:half], environment) | _together(cases[half:], environment)


def _at_once(cases: Sequence[Case], environment: TableEnvironment) -> dict[Case, Any] | None:
    widths = [len(case.result_types) or 1 for case in cases]
    try:
        types, rows = _rows(_query(*cases), environment)
    except Exception:  # noqa: BLE001  # alone it says what
        return None
    if len(types) != sum(widths):
        return None
    answers, at = {}, 0
    for case, width in zip(cases, widths, strict=True):
        answers[case] = types[at : at + width], [row[at : at + width] for row in rows]
        at += width
    return answers


def _rows(query: str, environment: TableEnvironment) -> tuple[tuple[LogicalType, ...], list[list[Json]]]:
    """Types and rows of a query; of changes, what is left at the end."""
    result = environment.execute_sql(query)
    changes = result.collect_changes()
    return result.types, _left((kind.short, row_to_json(values, result.types)) for kind, values in changes)


def _left(changes: Iterable[tuple[str, list[Json]]]) -> list[list[Json]]:
    """The rows that changes leave."""
    rows: list[list[Json]] = []
    for kind, row in changes:
        rows.remove(row) if _UNDOES[kind] else rows.append(row)
    return rows


def _difference(case: Case, types: Sequence[LogicalType], rows: Sequence[Sequence[Json]]) -> str:
    if case.refused:
        return f"taken: {json.dumps(rows, default=str)[:200]}"
    if not case.result_types:
        wanted = None if case.text is None or case.text.upper() == "NULL" else case.text
        if _is_star(case):
            rows = [[str(row[0])] for row in rows]
        return "" if case.text is None or rows == [[wanted]] else f"gives {_shown(rows)}, not {_shown([[wanted]])}"
    try:
        wanted_types = [type_of(text) for text in case.result_types]
        wanted_rows = _wanted(case, wanted_types)
    except (RekindleError, ValueError, LookupError) as error:
        return f"its type is not known: {_first_line(error)}"
    found = [list(row) for row in rows]
    if case.results and sorted(found, key=str) != sorted(wanted_rows, key=str):
        return f"gives {_shown(found)}, not {_shown(wanted_rows)}"
    pairs = zip(types, wanted_types, strict=True)
    odd = [f"{ours} instead of {theirs}" for ours, theirs in pairs if ours.regular() != theirs.regular()]
    return f"has the type {odd[0]}" if odd else ""


def _wanted(case: Case, types: Sequence[LogicalType]) -> list[list[Json]]:
    """The rows that Flink gives; none where its test looks at types alone."""

    def values(of: Sequence[Any]) -> list[Json]:
        return [plain(value, t, case.zone) for value, t in zip(of, types, strict=True)]

    if case.aggregate:
        return _left((each["kind"], values(each["row"])) for each in case.results)
    return [values(case.results)] if case.results else []


def _shown(rows: Sequence[Sequence[Json]]) -> str:
    return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False)[:200]


def _first_line(error: Exception) -> str:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return _FOLDER.sub("", line)[:200]
