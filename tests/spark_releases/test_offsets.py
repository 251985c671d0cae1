"""Streams of a checkpoint have names since PySpark 4.2; with 4.1 they are told apart by their order."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import ConnectorError, JobError
from rekindle.pipeline.record import record
from rekindle.pipeline.streams import streams
from rekindle.pipeline.ways import plan_ways
from rekindle.spark.releases import (
    logged_offsets,
    named,
    names_streams,
    refuse_other_checkpoint,
    require_named_streams,
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


def test_streams_of_several_sources_need_names(pyspark: str) -> None:
    """Without names the checkpoint of a DataFrame that has several could not tell them apart."""
    told = r"^table t: a streaming DataFrame of several sources needs PySpark 4\.2 or newer, not 4\.1\.4"
    refused = pytest.raises(ConnectorError, match=told) if pyspark == "4.1.4" else nullcontext()
    with refused:
        require_named_streams("a streaming DataFrame of several sources", "table t", "Install a newer one.")


def test_only_some_readers_take_a_name(pyspark: str) -> None:
    class Reader:
        def name(self, name: str) -> str:
            return name

    reader: Any = Reader()
    assert named(reader, "1_source") == (reader if pyspark == "4.1.4" else "1_source")


def test_streams_stand_in_the_order_of_the_query(tmp_path: Path) -> None:
    for folder in ("orders", "customers"):
        (tmp_path / folder).mkdir()
    found = list(streams(plan_ways(record(compiled(SHOP, tmp_path).plan.graph))))
    kinds = [each.partition("_")[0] if each[0].isalpha() else each.partition("_")[2] for each in found]
    assert kinds == ["source", "control", "source", "source", "values"]
