"""Streams of a checkpoint have names since PySpark 4.2; with 4.1 they are told apart by their order."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from execnodes.core.errors import ConnectorError, JobError
from rekindle.connectors.streams.number_reader import Numbers
from rekindle.connectors.streams.numbers import NumberSource, number_stream
from rekindle.pipeline.record import record
from rekindle.pipeline.stages import plan_stages
from rekindle.pipeline.streams import streams
from rekindle.spark.releases import (
    logged_offsets,
    named,
    names_streams,
    refuse_other_checkpoint,
)
from rekindle.testing.restore_run import compiled
from tests.spark_releases.program import SHOP

NAMED = 'v2\n{"batchWatermarkMs":0}\n7_source:{"logOffset":0}\n1_source:{"n":3}\n9_source:-'
ORDERED = 'v1\n{"batchWatermarkMs":0}\n{"n":3}\n{"logOffset":0}\n-'


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    (tmp_path / "offsets").mkdir()
    return tmp_path


@pytest.fixture(params=["4.1.4", "4.2.0", "4.3.0"])
def pyspark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    release = str(request.param)
    monkeypatch.setattr("pyspark.__version__", release)
    return release


@pytest.mark.parametrize(("log", "folders"), [(NAMED, ("1_source", "7_source")), (ORDERED, ("0", "1"))])
def test_offsets_of_both_forms(checkpoint: Path, log: str, folders: tuple[str, str]) -> None:
    (checkpoint / "offsets" / "4").write_text(log, encoding="utf-8")
    found = logged_offsets(checkpoint, 4, ("1_source", "7_source", "9_source"))
    numbers, files = (checkpoint / "sources" / each for each in folders)
    assert found == {"1_source": ('{"n":3}', numbers), "7_source": ('{"logOffset":0}', files)}


@pytest.mark.parametrize("log", [NAMED, ORDERED])
def test_a_checkpoint_is_for_pysparks_that_know_streams_as_its_own_did(
    checkpoint: Path, pyspark: str, log: str
) -> None:
    refuse_other_checkpoint(checkpoint)
    (checkpoint / "offsets" / "0").write_text(log, encoding="utf-8")
    if (log == NAMED) == names_streams():
        refuse_other_checkpoint(checkpoint)
        return
    with pytest.raises(JobError, match=f"has written the job's checkpoint, and {pyspark} would not") as refused:
        refuse_other_checkpoint(checkpoint)
    assert "rekindle savepoint" in str(refused.value)


@pytest.mark.parametrize("numbers", [Numbers(end=-1), Numbers(end=9, per_second=1), Numbers(end=9, max_rows=1)])
def test_a_generator_must_know_where_it_stands_unless_it_gives_all_at_once(pyspark: str, numbers: Numbers) -> None:
    class Called(Exception):
        pass

    class Session:
        @property
        def dataSource(self) -> Any:  # noqa: N802
            raise Called

    session: Any = Session()
    with pytest.raises(Called):
        number_stream(session, "1_source", Numbers(end=9), "table t")
    refused = pytest.raises(ConnectorError, match=r"^table t: a generated table .* needs PySpark 4\.2 or newer, not 4")
    with refused if pyspark == "4.1.4" else pytest.raises(Called):
        number_stream(session, "1_source", numbers, "table t")


def test_readers_of_numbers(pyspark: str) -> None:
    options = {name: str(value) for name, value in asdict(Numbers(start=3, end=9)).items()}
    reader: Any = NumberSource(options).streamReader(StructType())
    assert reader.initialOffset() == {"n": 3}
    if pyspark == "4.1.4":
        assert reader.latestOffset() == {"n": 9}
    else:
        assert reader.latestOffset({"n": 5}, ReadMaxRows(2)) == {"n": 7}
    assert [each.value for each in reader.partitions({"n": 5}, {"n": 7})] == [(5, 7)]


def test_only_some_readers_take_a_name(pyspark: str) -> None:
    class Reader:
        def name(self, name: str) -> str:
            return name

    reader: Any = Reader()
    assert named(reader, "1_source") == (reader if pyspark == "4.1.4" else "1_source")


def test_streams_stand_in_the_order_of_the_query(tmp_path: Path) -> None:
    for folder in ("orders", "customers"):
        (tmp_path / folder).mkdir()
    found = list(streams(plan_stages(record(compiled(SHOP, tmp_path).plan.graph))))
    kinds = [each.partition("_")[0] if each[0].isalpha() else each.partition("_")[2] for each in found]
    assert kinds == ["source", "control", "source", "source", "values"]
