"""Values of every type come back from a savepoint as they were."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from execnodes.core.changelog import RowKind
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.savepoints.exchange import export_state
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.writer import SavepointWriter
from rekindle.testing.cut import Pieces, cut_program
from rekindle.testing.programs import Program
from rekindle.testing.runner import QUICK, SinkRows, execute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "k": ("STRING", ["a", "b"]),
    "ev": ("TIMESTAMP(3)", ["2024-01-01 00:00:00.001", "2024-01-01 00:00:00.002"]),
    "bo": ("BOOLEAN", [True, None]),
    "ti": ("TINYINT", [-128, 127]),
    "bi": ("BIGINT", [-(2**63), 2**63 - 1]),
    "fl": ("FLOAT", [0.1, -0.0]),
    "db": ("DOUBLE", [1e308, 5e-324]),
    "d1": ("DECIMAL(18, 4)", ["-12345678901234.5678", "0.0001"]),
    "d2": ("DECIMAL(38, 18)", ["-12345678901234567890.123456789012345678", "0.000000000000000001"]),
    "st": ("STRING", ["", "naïve, \"quoted\" 'x' \\ \n 日本"]),
    "dt": ("DATE", ["1582-10-04", "9999-12-31"]),
    "tm": ("TIME(3)", ["00:00:00.001", "23:59:59.999"]),
    "ts": ("TIMESTAMP(6)", ["0001-01-01 00:00:00.000001", "2024-02-29 12:00:00.123456"]),
    "tz": ("TIMESTAMP_LTZ(6)", ["1969-12-31 23:59:59.999999Z", "2024-02-29 12:00:00.123456Z"]),
    "ar": ("ARRAY<DECIMAL(38, 2)>", [["1.50", None], []]),
    "mp": ("MAP<STRING, ROW<x DATE, y ARRAY<INT>>>", [{"q": {"x": "2024-01-01", "y": [1, None]}}, {}]),
    "ro": ("ROW<`a b` TIMESTAMP(3), n ROW<z BIGINT>>", [{"a b": "2024-01-01 00:00:00.001", "n": {"z": 5}}, None]),
}
SCRIPT = """
CREATE TABLE t ({columns}, WATERMARK FOR ev AS ev - INTERVAL '1' DAY)
  WITH ('connector' = 'filesystem', 'path' = '${{dir}}/input/t.json', 'format' = 'json');
CREATE TABLE latest ({columns}) WITH ('connector' = 'collect');
INSERT INTO latest SELECT {names} FROM
  (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ev DESC) AS n FROM t) WHERE n = 1;
"""


def program(folder: Path) -> Program:
    """Each key's row comes in either half of the input, so that the second meets it in the restored state."""
    (folder / "input").mkdir(parents=True)
    rows = [{name: values[i] for name, (_, values) in COLUMNS.items()} for i in (0, 1)]
    text = "".join(json.dumps(row) + "\n" for row in [*rows, *rows])
    (folder / "input" / "t.json").write_text(text, encoding="utf-8")
    columns = ", ".join(f"{name} {t}" for name, (t, _) in COLUMNS.items())
    (folder / "program.sql").write_text(SCRIPT.format(columns=columns, names=", ".join(COLUMNS)), encoding="utf-8")
    return Program(folder, "types")


class Migrated(Pieces):
    """Between the pieces every value of the state is written anew: as a text, as a frame, by DuckDB."""

    def begin(
        self, number: int, graph: ExecGraph, configuration: Configuration
    ) -> tuple[ExecGraph, Configuration, Path | None]:
        graph, options, target = super().begin(number, graph, configuration)
        if number:
            reader = SavepointReader.read(options["execution.state-recovery.path"])
            writer = SavepointWriter.from_existing_savepoint(reader.folder)
            for each in reader.states:
                for suffix in ("csv", "json", "parquet"):
                    export_state(reader, each.title, self.folder / f"{each.uid}.{suffix}")
                    writer.with_state(each.title, self.folder / f"{each.uid}.{suffix}")
                writer.transform_state(each.title, _frame)
            writer.write(self.folder / "migrated")
            options.put("execution.state-recovery.path", str(self.folder / "migrated"))
        return graph, options, target


def _frame(rows: pl.DataFrame) -> pl.DataFrame:
    return rows


def migrated(found: Program) -> Pieces:
    pieces = Migrated(found, 2, Path(tempfile.mkdtemp(prefix="rekindle-cut-")))
    pieces.place(0)
    return pieces


def run(spark: SparkSession, found: Program, cut: Pieces | None) -> SinkRows:
    environment = TableEnvironment.create(QUICK, spark=spark)
    plan = environment.compile_script(found.sql if cut is None else cut.sql)
    if cut is None:
        (sink,) = execute(plan, environment, spark, 120).values()
        return sink
    with cut:
        (sink,) = execute(plan, environment, spark, 120, cut).values()
        return sink


def test_every_type(spark: SparkSession, tmp_path: Path) -> None:
    found = program(tmp_path / "program")
    whole = run(spark, found, None)
    assert len({str(each.row) for each in whole.messages}) == 2
    # Each row is taken back, as the restored state has it, for the one that comes again.
    expected = Counter(
        (kind, str(row))
        for row in {str(each.row) for each in whole.messages}
        for kind in (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER)
    )
    for pieces in (cut_program(found, 2), migrated(found)):
        assert pieces is not None
        assert Counter((each.kind, str(each.row)) for each in run(spark, found, pieces).messages) == expected
