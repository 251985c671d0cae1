"""Migrated savepoints: another plan, states that are converted to it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from execnodes.core.errors import StateError
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.migrations.adopt import PlanRefused
from rekindle.savepoints.planned import planned_states
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.restore import prepare
from rekindle.savepoints.writer import SavepointWriter
from tests.savepoints.saved import column

TABLES = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
"""


def plan(query: str, **options: str) -> CompiledPlan:
    settings = {"table.optimizer.agg-phase-strategy": "ONE_PHASE", **options}
    return TableEnvironment.create(settings).compile_script(f"{TABLES} {query};")


OLD = plan("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k")
((UID, NAME),) = planned_states(OLD.graph)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A savepoint of `OLD`, from rows."""
    rows = pa.table({"k0": ["a", "b", None], "s$sum": [1, 2, None], "c$count": [1, 1, 4]})
    SavepointWriter.new_savepoint(OLD).with_state(f"{UID}:{NAME}", rows).write(tmp_path / "made")
    return tmp_path / "made"


def test_a_savepoint_made_from_rows_is_restored(made: Path) -> None:
    restore = prepare(made, OLD.graph, drop_unclaimed=False, drop=frozenset())
    assert {(each.name, each.fate, each.rows) for each in restore.fates} == {
        ("position", "restored", 0),
        (NAME, "restored", 3),
    }
    assert restore.positions == {}


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k", ["k0", "s$sum", "c$count"]),
        ("SELECT k, COUNT(*) AS n, SUM(v) AS total FROM t GROUP BY k", ["k0", "n$count", "total$sum"]),
        ("SELECT k, SUM(v) AS total FROM t GROUP BY k", ["k0", "total$sum"]),
    ],
)
def test_states_are_converted_to_the_plans_columns(made: Path, tmp_path: Path, query: str, columns: list[str]) -> None:
    new = plan(query)
    SavepointWriter.from_existing_savepoint(made).with_plan(new).write(tmp_path / "new")
    (state,) = read(tmp_path / "new").states
    assert [name for name, _ in state.schema] == columns
    sums = next(name for name in columns if name.endswith("sum"))
    assert column(tmp_path / "new", UID, sums) == [1, 2, None]
    assert (tmp_path / "new" / PLAN).read_text() == new.as_json_string()
    restore = prepare(tmp_path / "new", new.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    assert all(mine == theirs for kept in restore.kept.values() for mine, theirs in kept.columns.items())


@pytest.mark.parametrize(
    ("query", "options", "verdict"),
    [
        ("SELECT k, MAX(v) AS s, COUNT(*) AS c FROM t GROUP BY k", {}, "partial"),
        ("SELECT k, MAX(v) AS s FROM t GROUP BY k", {}, "incompatible"),
        ("SELECT v AS k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY v", {}, "incompatible"),
        ("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t WHERE v > 0 GROUP BY k", {}, "partial"),
        ("SELECT * FROM t", {}, "partial"),
        ("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k", {"table.exec.state.ttl": "1 h"}, "unknown"),
    ],
)
def test_plans_that_are_refused(made: Path, tmp_path: Path, query: str, options: dict[str, str], verdict: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        SavepointWriter.from_existing_savepoint(made).with_plan(plan(query, **options)).write(tmp_path / "new")
    assert refused.value.verdict == verdict
    assert not (tmp_path / "new").exists()


def test_columns_that_start_empty_need_consent(made: Path, tmp_path: Path) -> None:
    query = plan("SELECT k, MAX(k) AS s, COUNT(*) AS c FROM t GROUP BY k")
    writer = SavepointWriter.from_existing_savepoint(made)
    with pytest.raises(PlanRefused, match=r"column s\$max: .*starts empty"):
        writer.with_plan(query).write(tmp_path / "refused")
    SavepointWriter.from_existing_savepoint(made).with_plan(query, allow_non_restored_state=True).write(
        tmp_path / "new"
    )
    assert column(tmp_path / "new", UID, "s$max") == [None] * 3
    restore = prepare(tmp_path / "new", query.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}


def test_a_plan_with_another_input_goes_on_after_it_has_been_put_in(made: Path, tmp_path: Path) -> None:
    more = plan(
        "CREATE TABLE r (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/there', 'format' = 'json');"
        "SELECT k, SUM(v) AS s, COUNT(*) AS c FROM (SELECT * FROM t UNION ALL SELECT * FROM r) GROUP BY k"
    )
    ((fresh, _),) = planned_states(more.graph)
    writer = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: fresh})
    migrated = writer.with_plan(more, allow_non_restored_state=True).write(tmp_path / "new")
    (begun,) = (step for step, _ in migrated.steps if step.operation == "empty")
    assert (begun.name, begun.uid in migrated.manifest.positions) == ("position", False)
    restore = prepare(tmp_path / "new", more.graph, drop_unclaimed=False, drop=frozenset())
    assert {(each.name, each.fate, each.rows) for each in restore.fates} == {
        ("position", "restored", 0),
        (NAME, "restored", 3),
    }


def test_losses_need_consent(made: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(made)
    migrated = writer.with_plan(plan("SELECT * FROM t"), allow_non_restored_state=True).write(tmp_path / "new")
    assert [(step.operation, step.rows_before) for step, _ in migrated.steps] == [("drop", 3)]
    assert migrated.manifest.states == ()
    assert set(migrated.manifest.sources) == {"1_source"}


def _cents(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("k0", (pl.col("s$sum") * 100).alias("cents$sum"), pl.lit(0, pl.Int64).alias("big$count"))


NEW = plan("SELECT k, SUM(v * 100) AS cents, COUNT(*) FILTER (WHERE v > 10) AS big FROM t GROUP BY k")
((SCALED, _),) = planned_states(NEW.graph)


def test_a_function_makes_what_another_plan_means(made: Path, tmp_path: Path) -> None:
    title = f"{SCALED}:{NAME}"
    writer = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: SCALED})
    writer.transform_state(title, _cents)
    writer.with_plan(NEW, accept=[title]).write(tmp_path / "new")
    assert column(tmp_path / "new", title, "cents$sum") == [100, 200, None]
    restore = prepare(tmp_path / "new", NEW.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    (_, (step, _), (kept, _)) = writer.rehearse().steps
    assert [name for name, _ in step.schema_before] == ["k0", "s$sum", "c$count"]
    assert (kept.operation, kept.detail) == ("keep", "meaning accepted")


def test_an_accepted_meaning_still_needs_its_columns(made: Path) -> None:
    title = f"{SCALED}:{NAME}"
    renamed = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: SCALED})
    with pytest.raises(StateError, match=r"lack columns of the plan's state: column cents.sum BIGINT: missing"):
        renamed.with_plan(NEW, accept=[title]).rehearse()
    with pytest.raises(StateError, match="no state 9_x:s whose meaning could be accepted"):
        SavepointWriter.from_existing_savepoint(made).with_plan(NEW, accept=["9_x:s"]).rehearse()


def test_a_state_that_only_the_plan_has_is_imported(made: Path, tmp_path: Path) -> None:
    both = plan(
        "CREATE TABLE a (k STRING, s INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');"
        "CREATE TABLE b (v INT, c BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'print');"
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT k, SUM(v), COUNT(*) FROM t GROUP BY k;"
        "INSERT INTO b SELECT v, COUNT(*) FROM t GROUP BY v; END"
    )
    first, second = planned_states(both.graph).values()
    rows = pa.table({name: pa.array([1, 2], pa.int32()) for name, _ in second.schema})
    writer = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: first.uid})
    manifest = writer.with_state(second.title, rows).with_plan(both).write(tmp_path / "new").manifest
    assert [(each.title, each.rows) for each in manifest.states] == [(first.title, 3), (second.title, 2)]
    restore = prepare(tmp_path / "new", both.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    with pytest.raises(StateError, match="neither savepoint nor plan has the one state 99_x"):
        SavepointWriter.from_existing_savepoint(made).with_state("99_x:s", rows).rehearse()


def test_whole_numbers_stay_in_their_range(tmp_path: Path) -> None:
    both = plan("SELECT v, COUNT(*) AS c FROM t GROUP BY v")
    (state,) = planned_states(both.graph).values()
    rows = pa.table({"k0": [2**31], "c$count": [1]})
    with pytest.raises(StateError, match=r"column k0: 1 value is no INT, such as 2147483648"):
        SavepointWriter.new_savepoint(both).with_state(state.title, rows).rehearse()


def test_names_that_differ_in_case_alone_stay_apart(tmp_path: Path) -> None:
    cased = plan("SELECT k, SUM(v) AS a, COUNT(v) AS A, SUM(v + 1) AS `A` FROM t GROUP BY k".replace("AS A,", "AS b,"))
    (state,) = planned_states(cased.graph).values()
    names = [name for name, _ in state.schema]
    assert {"a$sum", "A$sum"} <= set(names)
    rows = pa.table({name: ["x"] if name == "k0" else [number] for number, name in enumerate(names)})
    SavepointWriter.new_savepoint(cased).with_state(state.title, rows).write(tmp_path / "1")
    changed = f'UPDATE "{state.uid}"."{state.name}" SET "A$sum_1" = 100'
    SavepointWriter.from_existing_savepoint(tmp_path / "1").edit(changed).write(tmp_path / "2")
    before, after = (SavepointReader.read(tmp_path / each).table(state.title).to_pylist()[0] for each in "12")
    assert before == rows.to_pylist()[0]
    assert after == {**before, "A$sum": 100}
