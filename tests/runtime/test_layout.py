"""A job folder says how its state is laid out; an engine that does it otherwise does not touch it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import JobError
from execnodes.core.version import ENGINE_VERSION
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.pipeline.record import record
from rekindle.pipeline.state_layout import FolderLayout, check_layout, keep_layout, layout_of, read_layout

SQL = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'datagen');
CREATE TABLE s (k STRING, n BIGINT, v INT) WITH ('connector' = 'print');
INSERT INTO s SELECT a.k, a.n, b.v FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) a JOIN t b ON a.k = b.k;
"""


@pytest.fixture(scope="module")
def layout() -> FolderLayout:
    graph = TableEnvironment.create().compile_script(SQL).graph
    return layout_of(graph, record(graph).steps.values())


@pytest.fixture
def folder(tmp_path: Path, layout: FolderLayout) -> JobFolder:
    """A job that has committed a batch."""
    found = JobFolder(tmp_path)
    (found.checkpoint / "commits").mkdir(parents=True)
    (found.checkpoint / "commits" / "0").write_text("v1\n{}")
    keep_layout(found, layout)
    return found


def test_it_is_read_as_it_was_written(folder: JobFolder, layout: FolderLayout) -> None:
    assert read_layout(folder) == layout
    names = [each.name for each in layout.states if not each.derived]
    assert names == ["globalGroupAggregateState", "leftState", "rightState"]
    first = layout.states[0]
    assert first.schema[0][1] == "STRING"
    assert len(first.meaning["columns"]) == len(first.schema)
    check_layout(folder, layout)


@pytest.mark.parametrize(
    "change",
    [
        lambda first: replace(first, schema=(*first.schema, ("more", "BIGINT"))),
        lambda first: replace(first, name="otherState"),
        lambda first: replace(first, bucketed=True),
        lambda first: replace(first, key=()),
    ],
    ids=["column", "name", "buckets", "key"],
)
def test_another_layout_is_refused(folder: JobFolder, layout: FolderLayout, change: Callable[..., object]) -> None:
    other = replace(layout, engine="9.1", states=(change(layout.states[0]), *layout.states[1:]))  # type: ignore[arg-type]
    says = rf"written by engine version {ENGINE_VERSION}, and this engine \(9.1\) lays out state otherwise: .*State"
    with pytest.raises(JobError, match=says) as caught:
        check_layout(folder, other)
    assert f"savepoint of the job with Rekindle {ENGINE_VERSION}" in (caught.value.hint or "")


def test_states_that_come_and_pages_that_change_are_refused(folder: JobFolder, layout: FolderLayout) -> None:
    for other in (replace(layout, states=layout.states[1:]), replace(layout, format=2)):
        with pytest.raises(JobError, match="lays out state otherwise"):
            check_layout(folder, other)
    keep_layout(folder, replace(layout, states=layout.states[1:]))
    with pytest.raises(JobError, match="globalGroupAggregateState"):
        check_layout(folder, layout)


def test_what_has_not_begun_may_change(tmp_path: Path, layout: FolderLayout) -> None:
    folder = JobFolder(tmp_path)
    check_layout(folder, layout)
    keep_layout(folder, layout)
    check_layout(folder, replace(layout, states=()))


def test_a_newer_engine_has_been_there(folder: JobFolder, layout: FolderLayout) -> None:
    keep_layout(folder, replace(layout, engine="9.1"))
    with pytest.raises(JobError, match=f"run by engine version 9.1, this engine is version {ENGINE_VERSION}"):
        check_layout(folder, layout)


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"engine": "x"}), json.dumps({"engine": "1.0", "states": [1]})])
def test_damage_is_told(folder: JobFolder, layout: FolderLayout, text: str) -> None:
    folder.layout_file.write_text(text)
    with pytest.raises(JobError, match=r"layout\.json: "):
        check_layout(folder, layout)
