"""The list of intended changes: entries are whole, and are quoted for the plans that they concern, and no others."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.aggregates import BY_INTERNAL_NAME, WINDOW_FUNCTIONS
from execnodes.core.metadata import NodeKey
from execnodes.core.registry import keys
from execnodes.core.version import ENGINE_VERSION, RELEASE, version_tuple
from execnodes.functions.registry import functions
from execnodes.intended_changes import INTENDED_CHANGES, IntendedChange
from plans.compatibility.find_intended_changes import find_intended_changes as find
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.plan_reference import PlanReference
from rekindle.statements.plan_upgrade import upgrade_plan
from tests.check.plans import plan as plan_of_json
from tests.check.test_command import call

ROOT = Path(__file__).parents[2]
OLD = "1.4"
COUNTS = (
    "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE({}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) {} "
    "GROUP BY window_start, window_end"
)
UNNESTED = "TABLE (SELECT t.k, t.ts, e FROM t CROSS JOIN UNNEST(ARRAY[v]) AS u (e))"
QUERIES = {
    "filter": COUNTS.format("TABLE t", "WHERE k = 'a'"),
    "none": COUNTS.format("TABLE t", ""),
    "having": COUNTS.format("TABLE t", "") + " HAVING COUNT(*) > 1",
    "unnest": COUNTS.format(UNNESTED, ""),
    "no time": "SELECT k, v FROM r WHERE v > 0",
}
EVENT_TIME = "filtered-rows-move-event-time"


def plan(query: str, **options: str) -> str:
    """A plan whose tables no change concerns by their format."""
    return plan_of_json(query, **options).replace('"format": "json"', '"format": "parquet"')


def aged(text: str) -> str:
    """A plan as if an older release had compiled it."""
    old = text.replace(f'"engineVersion": "{ENGINE_VERSION}"', f'"engineVersion": "{OLD}"')
    return old.replace(f":plan-{ENGINE_VERSION}", f":plan-{OLD}")


@pytest.mark.parametrize("change", INTENDED_CHANGES, ids=lambda change: change.id)
def test_an_entry_is_whole(change: IntendedChange) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", change.id)
    assert [other.id for other in INTENDED_CHANGES].count(change.id) == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", change.since)
    assert (1, 0) < version_tuple(change.since.rpartition(".")[0]) <= version_tuple(".".join(RELEASE.split(".")[:2]))
    for text in (change.before, change.now, change.reason):
        assert text
        assert not text.endswith(".")
        assert "\n" not in text
    scalar = {each.internal_name for each in functions().values()}
    aggregates = {*BY_INTERNAL_NAME, *(f"${name}$1" for name in WINDOW_FUNCTIONS)}
    if change.component.startswith("$"):
        assert change.component in scalar | aggregates
    elif "-exec-" in change.component.partition(" ")[0]:
        assert NodeKey.parse(change.component) in keys()
    else:
        assert change.concerns is not None, "a part of the engine needs a predicate"
    assert change.concerns_call is None or change.component.startswith("$")


@pytest.mark.parametrize("change", INTENDED_CHANGES, ids=lambda change: change.id)
def test_the_program_of_an_entry_exists(change: IntendedChange) -> None:
    file, _, name = change.program.partition("::")
    if not name:
        assert (ROOT / file / "program.sql").is_file()
        return
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name.partition("[")[0] in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("query", "options", "concerned"),
    [
        ("filter", {}, True),
        ("none", {}, False),
        ("having", {}, False),
        ("unnest", {}, True),
        ("no time", {}, False),
        ("filter", {"table__exec__lateness__granularity": "row"}, False),
    ],
)
def test_event_time_concerns_plans_with_a_filter_above_the_watermark(
    query: str, options: dict[str, str], concerned: bool
) -> None:
    text = plan(QUERIES[query], **options)
    assert (EVENT_TIME in {each.change.id for each in find(load(aged(text)), OLD)}) == concerned
    assert find(load(text), ENGINE_VERSION) == ()


RANDOM, WIDE = "random-values-are-made-once", "wide-decimal-keys-are-one-key"
ZEROS, EXTREMES = "zeros-are-one-key", "least-and-greatest-tell-zeros-apart"
CONDITIONS = "nan-is-not-equal-in-conditions-of-joins"
JOINED = "SELECT a.k FROM r AS a JOIN r AS b ON a.k = b.k AND {}"
WINDOWS = "windows-without-columns-are-rows"
DEPTHS = "windows-wait-for-rows-of-every-depth"
MOST = "SELECT window_start, window_end, MAX(n) AS n FROM {} GROUP BY window_start, window_end"
_COUNTED = f"({COUNTS.format('TABLE t', '').replace('SELECT window_start', 'SELECT window_start, window_end')})"
_TUMBLED = (
    "(SELECT window_start, window_end, CAST(v AS BIGINT) AS n "
    "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)))"
)
BY_CAST = "SELECT CAST(v AS {0}) AS d, COUNT(*) AS n FROM r GROUP BY CAST(v AS {0})"


@pytest.mark.parametrize(
    ("change", "query", "concerned"),
    [
        (RANDOM, "SELECT UUID() AS u FROM r", True),
        (RANDOM, "SELECT k FROM r WHERE RAND() < 0.5", True),
        (RANDOM, "SELECT k, x FROM r, UNNEST(ARRAY[RAND()]) AS t (x)", True),
        (RANDOM, "SELECT CURRENT_TIMESTAMP AS t FROM r", False),
        (RANDOM, "SELECT UPPER(k) AS u FROM r", False),
        (WIDE, BY_CAST.format("DECIMAL(38, 2)"), True),
        (WIDE, BY_CAST.format("DECIMAL(18, 2)"), False),
        (WIDE, "SELECT CAST(v AS DECIMAL(38, 2)) AS d FROM r", False),
        (WINDOWS, f"SELECT 1 AS one FROM ({QUERIES['none']})", True),
        (WINDOWS, f"SELECT n FROM ({QUERIES['none']})", False),
        (DEPTHS, MOST.format(_COUNTED), False),
        (DEPTHS, MOST.format(f"(SELECT * FROM {_TUMBLED} UNION ALL SELECT * FROM {_COUNTED})"), False),
        (DEPTHS, MOST.format(f"(SELECT * FROM ({MOST.format(_COUNTED)}) UNION ALL SELECT * FROM {_COUNTED})"), True),
        (DEPTHS, MOST.format(f"(SELECT * FROM ({MOST.format(_COUNTED)}) UNION ALL SELECT * FROM {_TUMBLED})"), True),
        (ZEROS, BY_CAST.format("DOUBLE"), True),
        (ZEROS, BY_CAST.format("BIGINT"), False),
        (
            ZEROS,
            "SELECT ARRAY[ROW(CAST(v AS FLOAT))] AS a, COUNT(*) AS n FROM r GROUP BY ARRAY[ROW(CAST(v AS FLOAT))]",
            True,
        ),
        (ZEROS, "SELECT CAST(v AS DOUBLE) AS d FROM r", False),
        (EXTREMES, "SELECT UPPER(CAST(LEAST(CAST(v AS DOUBLE), 1e0) AS STRING)) AS t FROM r", True),
        (EXTREMES, "SELECT GREATEST(v, 1) AS g FROM r", False),
        (CONDITIONS, JOINED.format("CAST(a.v AS DOUBLE) < CAST(b.v AS DOUBLE)"), True),
        (CONDITIONS, JOINED.format("a.v < b.v"), False),
    ],
)
def test_a_change_of_the_engine_concerns_plans_that_meet_it(change: str, query: str, concerned: bool) -> None:
    found = {each.change.id for each in find(load(aged(plan(query))), OLD)}
    assert (change in found) == concerned


def test_values_of_formats_concern_plans_that_read_them() -> None:
    text = aged(plan_of_json("SELECT k FROM r"))
    ids = {"json": "json-values-are-what-was-written", "csv": "csv-values-are-what-was-written", "parquet": None}
    for name, expected in ids.items():
        found = find(load(text.replace('"format": "json"', f'"format": "{name}"')), OLD)
        assert [each.change.id for each in found] == [expected] * bool(expected)


TABLE = (
    ("stream-exec-calc_1", "SELECT UPPER(k) AS u FROM r", True),
    ("stream-exec-calc_1", "SELECT k, v, w FROM r", False),
    ("$UPPER$1", "SELECT UPPER(k) AS u FROM r", True),
    ("$LOWER$1", "SELECT UPPER(k) AS u FROM r", False),
    ("$UPPER$1", "SELECT k FROM r WHERE CONCAT(UPPER(k), 'x') = 'Ax'", True),
    ("$SUM$1", "SELECT k, SUM(v) AS s FROM r GROUP BY k", True),
    ("$MAX$1", "SELECT k, SUM(v) AS s FROM r GROUP BY k", False),
)


@pytest.mark.parametrize(("component", "query", "concerned"), TABLE)
def test_a_component_is_found_wherever_a_plan_has_it(component: str, query: str, concerned: bool) -> None:
    change = IntendedChange("x", component, f"{ENGINE_VERSION}.0", "a", "b", "c", "p")
    graph = load(plan(query))
    assert bool(find(graph, OLD, [change])) == concerned
    assert not find(graph, ENGINE_VERSION, [change])
    assert not find(graph, OLD, [replace(change, concerns=lambda graph, node: False)])
    if component.startswith("$"):
        assert not find(graph, OLD, [replace(change, concerns_call=lambda call: False)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, query in QUERIES.items():
        (tmp_path / f"{name}.json").write_text(aged(plan(query)))
        (tmp_path / f"new {name}.json").write_text(plan(query))
    return tmp_path


def test_check_quotes_them_and_keeps_its_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert call(monkeypatch, folder, "filter.json", "new filter.json") == 0
    lines = capsys.readouterr().out.splitlines()
    (note,) = (line for line in lines if EVENT_TIME in line)
    assert note.startswith("note ")
    assert lines[-1] == "verdict: full"
    assert call(monkeypatch, folder, "filter.json", "new filter.json", "--markdown") == 0
    assert "moves event time" in capsys.readouterr().out
    assert call(monkeypatch, folder, "filter.json", "new filter.json", "--json") == 0
    (change,) = json.loads(capsys.readouterr().out)["intendedChanges"]
    assert (change["id"], change["since"]) == (EVENT_TIME, "1.5.0")
    assert change["nodes"] == [2]
    for pair in (("new filter.json", "new filter.json"), ("none.json", "new none.json")):
        assert call(monkeypatch, folder, *pair, "--json") == 0
        assert "intendedChanges" not in json.loads(capsys.readouterr().out)


def test_upgrade_quotes_them(folder: Path) -> None:
    found = upgrade_plan(PlanReference.from_file(folder / "filter.json"))
    assert [each.change.id for each in found.intended_changes] == [EVENT_TIME]
    assert EVENT_TIME in "\n".join(found.lines())
    assert not upgrade_plan(PlanReference.from_file(folder / "none.json")).intended_changes


def test_statements_quote_them(folder: Path) -> None:
    environment = TableEnvironment.create()
    environment.execute_sql("CREATE TABLE t (k STRING, v BIGINT) WITH ('connector' = 'datagen')")
    old, new = folder / "filter.json", folder / "upgraded.json"
    message = environment.execute_sql(f"COMPILE PLAN '{new}' FROM '{old}'").message
    assert message is not None
    assert EVENT_TIME in message


def test_a_report_quotes_them(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("sys.argv", ["rekindle", "report", "filter.json", "new filter.json"])
    monkeypatch.chdir(folder)
    from rekindle.cli import main

    with pytest.raises(SystemExit):
        main.run()
    assert EVENT_TIME in (folder / "report.html").read_text(encoding="utf-8")
