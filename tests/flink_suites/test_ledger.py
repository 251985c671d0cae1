"""The ledger of Flink's own tests: what it says is told where a run says otherwise, and the page shows its sums."""

from __future__ import annotations

import json

from tests.flink_suites.cases import plain, sql_literal, type_of
from tests.flink_suites.ledger import LEDGER, REASONS, SCORE, changes, stored


def test_a_case_that_newly_fails_or_passes_is_told() -> None:
    ledger = {"A/0/0": "todo", "A/0/1": "missing"}
    problems = {"A/0/0": "gives 1, not 2", "A/0/1": "", "A/0/2": "refused: no such function", "A/0/3": ""}
    assert list(changes(ledger, problems)) == [
        "A/0/1 passes and is in the ledger",
        "A/0/2 fails and is not in the ledger: refused: no such function",
    ]


def test_each_line_has_a_reason_and_the_score_counts_them() -> None:
    reasons = stored()
    assert set(reasons.values()) <= set(REASONS)
    assert len(reasons) == sum(not line.startswith("#") for line in LEDGER.read_text(encoding="utf-8").splitlines())
    for suite, counts in json.loads(SCORE.read_text(encoding="utf-8")).items():
        failing = sum(case.startswith(f"{suite}/") for case in reasons)
        assert counts["cases"] - counts["pass"] == failing == sum(counts.get(reason, 0) for reason in REASONS)


def test_values_of_a_specification_are_read_by_their_type() -> None:
    row = {"row": [{"decimal": "1.50"}, {"array": [None, {"bytes": "00ff"}]}], "kind": "+I"}
    assert plain(row, type_of("ROW<a DECIMAL(3, 2), b ARRAY<BYTES>>"), "UTC") == ["1.50", [None, "x'00ff'"]]
    moment = {"timestamp": "2024-01-01 00:00:00.123456789"}
    assert plain(moment, type_of("TIMESTAMP(3) WITH LOCAL TIME ZONE"), "GMT-08:00") == "2024-01-01 08:00:00.123"
    maps = {"array": [{"map": [[{"number": 1}, {"text": "it's"}]]}, None]}
    literal = "ARRAY[MAP[CAST('1' AS INT), CAST('it''s' AS STRING)], CAST(NULL AS MAP<INT, STRING>)]"
    assert sql_literal(maps, type_of("ARRAY<MAP<INT, STRING>>"), "UTC") == literal
    assert plain({"number": 5}, type_of("INTERVAL SECOND(3)"), "UTC") == 5
