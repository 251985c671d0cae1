"""Tables that lie elsewhere, or have other names, in a changed plan: what is said, and what is a move."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from execnodes.connectors import connectors, physical_identity
from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from plans.compatibility.fates import Comparison, Verdict
from plans.evolution.evolve import evolve
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.connectors.registry import register_installed
from rekindle.report.checked import checked

FILES = "'connector' = 'filesystem', 'format' = 'json', 'path' = '/d/in', 'source.monitor-interval' = '1 s'"
KAFKA = (
    "'connector' = 'spark', 'spark.format' = 'kafka', 'spark.options.subscribe' = 'a', "
    "'spark.options.kafka.bootstrap.servers' = 'host:1', 'spark.start-option' = 'startingOffsets'"
)
DUCKDB = "'connector' = 'duckdb', 'path' = '/d/out', 'table' = 't'"
JDBC = "'connector' = 'spark', 'spark.format' = 'jdbc', 'spark.options.url' = 'u', 'spark.options.dbtable' = 't'"


def script(source: str = FILES, sink: str = DUCKDB, name: str = "s", call: str = "SUM(a)", to: str = "t") -> str:
    group = "" if sink.startswith("'connector' = 'spark'") else " GROUP BY k"
    return f"""
CREATE TABLE {name} (k STRING, a INT) WITH ({source});
CREATE TABLE {to} (k STRING, a INT{"" if not group else ", PRIMARY KEY (k) NOT ENFORCED"}) WITH ({sink});
INSERT INTO {to} SELECT k, {call if group else "a"} FROM {name}{group};
"""


def graph(text: str) -> ExecGraph:
    return TableEnvironment.create().compile_script(text).graph


def compare(old: str, new: str, moves: dict[str, str]) -> tuple[Comparison, Comparison]:
    """By `check`, and by `compile --from`."""
    one, other = graph(old), graph(new)
    return checked(("old", one), ("new", other), moves=moves).comparison, evolve(one, other, moves=moves).comparison


@pytest.mark.parametrize(
    ("old", "new", "moves", "verdict", "said"),
    [
        (script(), script(), {}, "full", ()),
        # Sinks.
        (script(), script(sink=DUCKDB.replace("/d/out", "/d/b")), {}, "partial", ("sink", "path: /d/out -> /d/b")),
        (script(), script(sink=DUCKDB.replace("'t'", "'u'")), {}, "partial", ("sink", "table: t -> u")),
        (script(), script(sink=DUCKDB.replace("'t'", "'u'")), {"t": "u"}, "full", ("sink", "has moved")),
        (script(), script(sink=DUCKDB.replace("/d/out", "/d/b")), {"/d/out": "/d/b"}, "full", ("sink", "has moved")),
        (
            script(),
            script(sink=DUCKDB.replace("/d/out", "/b").replace("'t'", "'u'")),
            {"/d/out": "/b"},
            "partial",
            ("sink", "path: /d/out -> /b; table: t -> u"),
        ),
        (script(), script(sink=DUCKDB.replace("/d/out", "/d/./x/../out")), {}, "full", ()),
        (script(sink=JDBC), script(sink=JDBC.replace("'u'", "'v'")), {}, "partial", ("sink", "url: u -> v")),
        (
            script(),
            script(sink="'connector' = 'blackhole'"),
            {},
            "full",
            ("sink", "keeps no rows now", "connector: duckdb -> blackhole"),
        ),
        (script(sink="'connector' = 'blackhole'"), script(sink="'connector' = 'print'"), {}, "full", ()),
        (script(sink="'connector' = 'print'"), script(), {}, "partial", ("connector: print -> duckdb", "from now on")),
        # Sources.
        (script(), script(FILES.replace("/d/in", "/d/b")), {}, "partial", ("source", "path: /d/in -> /d/b", "twice")),
        (script(), script(FILES.replace("/d/in", "/d/b")), {"/d/in": "/d/b/"}, "full", ("source", "--move-files")),
        (script(), script(FILES.replace("/d/in", "file:///d/in/")), {}, "full", ()),
        (script(KAFKA), script(KAFKA.replace("'a'", "'b'")), {}, "partial", ("source", "subscribe: a -> b")),
        (script(KAFKA), script(KAFKA.replace("host:1", "h:2")), {"host:1": "h:2"}, "full", ("source", "has moved")),
        (script(KAFKA), script(KAFKA.replace("startingOffsets", "other")), {}, "full", ()),
        # Names.
        (script(), script(name="orders"), {"s": "orders"}, "full", ()),
        (script(), script(to="sums"), {"t": "sums"}, "full", ()),
        (script(), script(name="orders", to="sums"), {"s": "orders", "t": "sums"}, "full", ()),
        (
            script(),
            script(FILES.replace("/d/in", "/d/b"), name="orders"),
            {"s": "orders"},
            "partial",
            ("source", "orders", "path"),
        ),
        (
            script(),
            script(FILES.replace("/d/in", "/d/b"), name="orders"),
            {"s": "orders", "/d/in": "/d/b"},
            "full",
            ("source", "orders", "has moved"),
        ),
    ],
)
def test_what_a_change_of_place_does(
    old: str, new: str, moves: dict[str, str], verdict: str, said: tuple[str, ...]
) -> None:
    for found in compare(old, new, moves):
        assert found.verdict == verdict, found.notes
        assert len(found.notes) == bool(said)
        assert all(part in note for note in found.notes for part in said)


def test_a_sink_that_lies_elsewhere_is_not_said_to_hold_old_rows() -> None:
    _, found = compare(script(), script(sink=DUCKDB.replace("/d/out", "/d/b"), call="MAX(a)"), {})
    assert not any("holds rows of the old query" in note for note in found.notes)
    _, found = compare(script(), script(call="MAX(a)"), {})
    assert any("holds rows of the old query" in note for note in found.notes)


def test_a_renamed_source_is_recognized_by_its_place() -> None:
    found, _ = compare(script(), script(name="orders"), {})
    (note,) = [each for each in found.notes if "source" in each]
    assert "--map default_catalog.default_database.s=default_catalog.default_database.orders" in note


def test_a_job_that_starts_at_its_beginning_misses_nothing_in_a_new_place() -> None:
    finite = "'connector' = 'datagen', 'number-of-rows' = '3'"
    found, _ = compare(script(name="s"), script(finite, DUCKDB.replace("/d/out", "/b"), name="other"), {})
    assert found.place_losses == ()


def test_names_stay_known_in_later_plans() -> None:
    old = graph(script())
    second = load(encode(evolve(old, graph(script(name="orders")), moves={"s": "orders"}).graph))
    assert [uid for node in second.nodes for uid in node.uids()] == [uid for node in old.nodes for uid in node.uids()]
    third = evolve(second, graph(script(name="orders", call="SUM(a) + 1"))).graph
    assert third.table_aliases == second.table_aliases != {}
    assert checked(("", old), ("", third)).verdict is Verdict.FULL
    fourth = evolve(third, graph(script(name="purchases")), moves={"orders": "purchases"}).graph
    assert checked(("", old), ("", fourth)).verdict is Verdict.FULL


def test_a_move_of_nothing_is_refused() -> None:
    with pytest.raises(PlanError, match="x=y names neither"):
        evolve(graph(script()), graph(script()), moves={"x": "y"})


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)

    def code(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
        try:
            main.run()
        except SystemExit as ended:
            return int(ended.code or 0)
        return 0

    Path("old.sql").write_text(script())
    Path("new.sql").write_text(script(sink=DUCKDB.replace("/d/out", "/d/b"), name="orders"))
    assert code("compile", "-f", "old.sql", "-o", "old.json") == 0
    arguments = ["compile", "-f", "new.sql", "--from", "old.json", "-o", "new.json", "--map", "s=orders"]
    assert code(*arguments) == 4
    assert "some rows would be missing or counted twice" in capsys.readouterr().err
    assert code(*arguments, "--map", "/d/out=/d/b") == 0
    assert "has moved" in capsys.readouterr().out
    assert code("check", "old.json", "new.json") == 4
    capsys.readouterr()
    assert code("check", "--json", "old.json", "new.json", "--map", "/d/out=/d/b") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], len(document["notes"])) == ("full", 1)
    assert code("report", "old.json", "new.json", "--map", "/d/out=/d/b") == 0
    assert code("check", "old.json", "new.json", "--map", "nonsense") == 1
    assert "Write OLD=NEW" in capsys.readouterr().err


def test_every_connector_that_has_data_outside_says_what_identifies_it() -> None:
    register_installed()
    without = {each.identifier for each in connectors() if not each.identity}
    assert without == {"blackhole", "collect", "datagen", "nexmark", "print"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/a/b", "/a//b/", True),
        ("file:///a/b", "/a/b", True),
        ("file:/a/b", "/a/b", True),
        ("s3://x/a/", "s3://x/a", True),
        ("s3://x/a", "/x/a", False),
        ("a/./b", "a/b", True),
        ("${env:PLACE}", "${env:OTHER}", False),
    ],
)
def test_paths_have_one_form(one: str, other: str, same: bool) -> None:
    places = [physical_identity({"connector": "filesystem", "path": each}) for each in (one, other)]
    assert (places[0] == places[1]) == same


def test_what_is_compiled_from_the_old_plan_is_not_advised_to_be() -> None:
    old, other = graph(script()), graph(script(FILES.replace("'json'", "'csv'")))
    told = [each.reason for each in checked(("", old), ("", evolve(old, other).graph)).comparison.judgements]
    assert not any("compile the new plan from the old one" in each for each in told)
    assert any("which means the same" in each for each in told)
