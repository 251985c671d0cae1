"""Verdicts over pairs of queries: what means the same goes on, and nothing else does."""

from __future__ import annotations

import pytest

from plans.compatibility.compare import compare
from plans.compatibility.plan_meanings import meanings
from plans.format.load import load
from tests.check.plans import ACCEPTED, DEDUPLICATION, JOIN, WINDOW, Change, compared, plan, states

SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
COUNTED = "SELECT s, COUNT(*) AS c FROM (SELECT k, SUM(v) AS s FROM t GROUP BY k) GROUP BY s"
DISTINCT = "SELECT k, COUNT(DISTINCT v) AS a FROM t GROUP BY k"
UNION = "SELECT k, SUM(v) AS s FROM (SELECT k, v FROM t UNION ALL SELECT k, v FROM r) GROUP BY k"


@pytest.mark.parametrize("change", ACCEPTED, ids=lambda each: each.name)
def test_what_spark_takes_for_no_change(change: Change) -> None:
    found = compared(change.old, change.new)
    assert found.verdict == change.verdict
    assert [each for each in states(found) if change.reason in each.reason], states(found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SUM, SUM),
        (SUM, SUM.replace("AS s", "AS total")),
        (SUM, SUM + " HAVING SUM(v) > 3"),
        (SUM, SUM.replace("AS s", "AS s, UPPER(k)")),
        (SUM, SUM.replace("FROM t", "FROM t AS other")),
        ("SELECT k, SUM(v) AS s, MAX(w) AS m FROM t GROUP BY k", SUM),
        (SUM + " HAVING SUM(v) > 3", SUM + " HAVING SUM(v) > 4"),
        (SUM.replace("GROUP", "WHERE v > 1 AND w > 2 GROUP"), SUM.replace("GROUP", "WHERE w > 2 AND v > 1 GROUP")),
        (COUNTED, COUNTED.replace("AS s FROM", "AS x FROM").replace("SELECT s", "SELECT x").replace("BY s", "BY x")),
        (DISTINCT, DISTINCT.replace("AS a", "AS b")),
        (WINDOW.format(10), WINDOW.format(10).replace("window_start, k", "window_end, k", 1)),
        (WINDOW.format(5).replace("SUM(v) AS s", "MIN(v), SUM(v) AS s"), WINDOW.format(5)),
        (DEDUPLICATION.format("k, k2"), DEDUPLICATION.format("k2, k")),
        (DEDUPLICATION.format("k"), DEDUPLICATION.format("k").replace("k2, v", "k2, v * 2 AS v2")),
        (JOIN.format("r.v"), JOIN.format("r.v + 1 AS x")),
        (JOIN.format("r.v"), JOIN.format("r.v AS renamed")),
        (JOIN.format("r.v, r.w"), JOIN.format("r.w")),
        (UNION, UNION.replace("SELECT k, v FROM t", "SELECT k, v FROM t AS x")),
        ("SELECT k, v FROM t WHERE v > 1", "SELECT k, w FROM t WHERE v > 2"),
    ],
)
def test_harmless_changes(old: str, new: str) -> None:
    found = compared(old, new)
    assert found.verdict == "full", found.judgements


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (SUM.replace("GROUP", "WHERE w > 1 GROUP"), SUM.replace("GROUP", "WHERE w > 2 GROUP"), "t.w > 1 -> t.w > 2"),
        (SUM, SUM.replace("SUM(v)", "SUM(v) FILTER (WHERE w > 1)"), "filter added: t.w > 1"),
        (SUM, SUM.replace("SUM(v) AS s", "SUM(v) AS s, COUNT(*) AS c"), "nothing in the state tells it"),
        (SUM, SUM.replace("SUM(v)", "SUM(CAST(v AS INT))"), None),
        (DISTINCT, DISTINCT.replace("v)", "w)"), "argument: t.v -> t.w"),
        (DISTINCT, DISTINCT.replace(" AS a", " AS a, COUNT(DISTINCT w) AS b"), "so it starts empty"),
        (DISTINCT, DISTINCT.replace("(DISTINCT v)", "(DISTINCT v) FILTER (WHERE w > 1)"), "filter added: t.w > 1"),
        (COUNTED, COUNTED.replace("SUM(v)", "MAX(v)"), "MAX"),
        (WINDOW.format(10).replace("SUM", "COUNT"), WINDOW.format(10), "function: COUNT(t.v) -> SUM(t.v)"),
        (WINDOW.format(10), WINDOW.format(10).replace("TUMBLE(", "HOP(").replace("INTERVAL", "INTERVAL '5' MINUTES, INTERVAL"), "TUMBLE"),  # noqa: E501
        (DEDUPLICATION.format("k"), DEDUPLICATION.format("k").replace("BY ts", "BY ts DESC"), "no such state"),
        (DEDUPLICATION.format("k"), DEDUPLICATION.format("k").replace("k2, v", "k2, v, w"), "t.w (BIGINT) is new"),
        (JOIN.format("r.v"), JOIN.format("r.v").replace("JOIN", "LEFT JOIN"), "join: type: INNER -> LEFT"),
        (JOIN.format("r.v"), JOIN.format("r.v").replace("= r.k", "= r.k AND t.v > r.v"), "added: left.t.v > right.r.v"),
        (JOIN.format("r.v"), JOIN.format("r.v").replace("t.k = r.k", "t.k2 = r.k"), None),
        ("SELECT l.k, l.v, r.w FROM r AS l JOIN r ON l.k = r.k", "SELECT r.k, r.v, l.w FROM r AS l JOIN r ON l.k = r.k", "r.v -> r.w"),  # noqa: E501
        ("SELECT k, SUM(x) FROM (SELECT a.k, a.v AS x, b.v AS y FROM t a JOIN t b ON a.k2 = b.k2) GROUP BY k",
         "SELECT k, SUM(y) FROM (SELECT a.k, a.v AS x, b.v AS y FROM t a JOIN t b ON a.k2 = b.k2) GROUP BY k",
         "left.t.v"),
        (UNION, UNION.replace("SELECT k, v FROM r", "SELECT k, w FROM r"), "union"),
    ],
)  # fmt: skip
def test_changed_meanings(old: str, new: str, reason: str | None) -> None:
    found = compared(old, new)
    assert found.verdict in ("incompatible", "partial"), found.judgements
    reasons = "; ".join(each.reason for each in states(found))
    assert reason is None or reason in reasons, reasons


def test_the_order_of_a_union_does_not_matter_to_the_state() -> None:
    swapped = UNION.replace("FROM t UNION ALL SELECT k, v FROM r", "FROM r UNION ALL SELECT k, v FROM t")
    (total,) = states(compared(UNION, swapped))
    # The sources have changed places, and with them their uids: their positions cannot go on, so nothing can.
    assert (total.fate, "does not go on" in total.reason) == ("incompatible", True)


@pytest.mark.parametrize(("query", "verdict"), [(WINDOW.format(10), "incompatible"), (SUM, "full")])
def test_a_watermark_matters_to_what_goes_by_time(query: str, verdict: str) -> None:
    text = plan(query)
    later = text.replace('"value": 1000,', '"value": 2000,')
    assert later != text
    assert compare(meanings(load(text)), meanings(load(later))).verdict == verdict


@pytest.mark.parametrize(("value", "verdict"), [("v", "full"), ("v + 1", "incompatible")])
def test_a_zone_matters_to_what_is_computed(value: str, verdict: str) -> None:
    query = SUM.replace("v", value)
    before, after = plan(query), plan(query, table__local_time_zone="Europe/Berlin")
    assert compare(meanings(load(before)), meanings(load(after))).verdict == verdict


def test_a_state_whose_table_is_not_known_cannot_be_judged() -> None:
    script = """CREATE TEMPORARY TABLE o (k STRING, v BIGINT, PRIMARY KEY (v) NOT ENFORCED)
          WITH ('connector' = 'blackhole');
        INSERT INTO o SELECT k, SUM(v) FROM t GROUP BY k ON CONFLICT DO DEDUPLICATE"""
    text = plan(script)
    found = compare(meanings(load(text)), meanings(load(text)))
    assert found.verdict == "unknown"
    assert [each.state for each in found.judgements if each.unsure] == ["sinkMaterializeState"]


def test_state_under_another_uid_is_pointed_at() -> None:
    shifted = "SELECT k, v FROM r UNION ALL SELECT k, s FROM (SELECT k, SUM(v) AS s FROM t GROUP BY k)"
    found = states(compared("SELECT k, v FROM r WHERE v > 1 UNION ALL " + shifted.partition("ALL ")[2], shifted))
    assert [each.fate for each in found] == ["empty", "drop"]
    assert "of the old plan means the same: compile the new plan from the old one" in found[0].reason


def test_what_a_plan_means_is_computed_once() -> None:
    """A start asks several times: for the savepoint, the layout of the folder, the layouts of pages."""
    graph = load(plan(SUM))
    assert meanings(graph) is meanings(graph)
    assert meanings(graph, frozenset({"1_source"})) is not meanings(graph)
    assert meanings(load(plan(SUM))) is not meanings(graph)
