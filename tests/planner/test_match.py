"""Which MATCH_RECOGNIZE are taken: as Flink 2.3 has it, but where `test_otherwise_than_flink` says so."""

from __future__ import annotations

import json

import pytest

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.graph import ExecGraph
from execnodes.stream.calc import Calc
from execnodes.stream.match import Match
from plans.format.load import load
from rekindle import CompiledPlan, TableEnvironment

_WITH = "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = '{}')"
DDL = f"""
CREATE TABLE t (k STRING, n STRING, v INT, id INT NOT NULL, d DECIMAL(6, 2), r ROW<x INT>, pt AS PROCTIME(),
  ts TIMESTAMP(3), plain TIMESTAMP(3), WATERMARK FOR ts AS ts) {_WITH.format("json")};
CREATE TABLE cdc (k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ts AS ts)
  {_WITH.format("debezium-json")};
CREATE VIEW totals AS SELECT k, SUM(v) AS v, MAX(ts) AS ts FROM t GROUP BY k;
"""
RISE = "B AS B.v > A.v"


def query(
    measures: str = "A.id AS a", pattern: str = "A B", define: str = RISE, after: str = "", within: str = "",
    keys: str = "PARTITION BY k", order: str = "ORDER BY ts", source: str = "t",
) -> str:  # fmt: skip
    after, within = after and f"AFTER MATCH SKIP {after}", within and f"WITHIN {within}"
    inner = f"{keys} {order} MEASURES {measures} {after} PATTERN ({pattern}) {within} DEFINE {define}"
    return f"SELECT * FROM {source} MATCH_RECOGNIZE ({inner}) AS m"


def plan(text: str, options: dict[str, str] | None = None) -> CompiledPlan:
    made = TableEnvironment.create(options or {})
    made.execute_script(DDL)
    return made.compile_plan_sql(text)


def graph(text: str, options: dict[str, str] | None = None) -> ExecGraph:
    return plan(text, options).graph


def match(text: str) -> Match:
    (node,) = (each for each in graph(text).nodes if isinstance(each, Match))
    return node


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("A B", "A B"),
        ("A B+ C", "A B+ C"),
        ("A (B C) D", "A B C D"),
        ("((A)) B{2}", "A B{2}"),
        ("A{,3} B", "A{0,3} B"),
        ("A{2,} B{1,2}?", "A{2,} B{1,2}?"),
        ("A? B C*?", "A? B C*?"),
        ("A+? B? C", "A+? B? C"),
        ("A{2}? B", "A{2} B"),
        ("`first` `a b`", "first a b"),
    ],
)
def test_patterns(pattern: str, shown: str) -> None:
    node = match(query("1 AS one", pattern, "X AS TRUE"))
    assert " ".join(map(str, node.match_spec.pattern)) == shown
    assert not node.match_spec.definitions


@pytest.mark.parametrize(
    ("given", "line", "message", "hint"),
    [
        (query(pattern="A | B"), "| B", "alternatives in a pattern is not supported", "UNION ALL"),
        (query(pattern="(A B)+ C"), "", "a quantifier behind a group is not supported", "Repeat single variables"),
        (query(pattern="A {- B -}"), "{-", "{- … -} in a pattern is not supported", "Leave the variable out"),
        (query(pattern="PERMUTE(A, B)"), "PERMUTE", "PERMUTE is not supported", "each order"),
        (query(pattern="^ A B"), "^", "^ in a pattern is not supported", "no begin"),
        (query(pattern="A B $"), "$", "$ in a pattern is not supported", "no end"),
        (query(pattern="A B+"), "B+", "Greedy quantifiers are not allowed as the last element", ""),
        (query(pattern="A? B*?"), "A? B", "Patterns that can produce empty matches are not supported", ""),
        (query(pattern="A B A"), "A) ", "Pattern variables must be unique", "Call the second A otherwise"),
        (query(pattern="A+ B? C"), "B?", "Optional pattern cannot be preceded by greedy pattern", "A+?"),
        (query(pattern="A B??"), "B??", "Reluctant optional variables are not supported yet", ""),
        (query(pattern="A{3,2} B"), "A{3", "A takes 3 to 2 rows", ""),
        (query(pattern=""), ")", "expected a variable of the pattern", ""),
        (query(after="TO FIRST A"), "A PATTERN", "finds the same match again", "TO NEXT ROW"),
        (query(after="TO LAST C"), "C PATTERN", "Unknown pattern 'C'", ""),
        (query(within="INTERVAL '1' MONTH"), "INTERVAL", "Only constant intervals with millisecond", ""),
        (query(within="INTERVAL '0' SECOND"), "INTERVAL", "longer than nothing", ""),
        (query(order="ORDER BY v"), "v MEASURES", "You must specify either rowtime or proctime", "WATERMARK"),
        (query(order="ORDER BY plain"), "plain", "You must specify either rowtime or proctime", "WATERMARK"),
        (query(order="ORDER BY pt"), "pt MEASURES", "by processing time is not supported", "WATERMARK"),
        (query(order="ORDER BY ts DESC"), "ts DESC", "Primary sort order of a streaming table", ""),
        (query(order=""), "MATCH_RECOGNIZE", "needs ORDER BY a time attribute", ""),
        (query(keys="PARTITION BY UPPER(k)"), "UPPER(k)", "PARTITION BY of MATCH_RECOGNIZE takes columns", "subquery"),
        (query("C.id AS a"), "C.id", "Table 'C' not found", "The pattern has A, B."),
        (query("a.id AS a"), "a.id", "Table 'a' not found", "The pattern has A, B."),
        (query("t.id AS a"), "t.id", "Table 't' not found", "Write id"),
        (query("A.nothing AS a"), "A.nothing", "Column 'nothing' not found", ""),
        (query("A.id AS k"), "MATCH_RECOGNIZE", "Columns ambiguously defined: {k}", ""),
        (query("A.id AS a, B.id AS a"), "MATCH_RECOGNIZE", "Columns ambiguously defined: {a}", ""),
        (query("A.id"), "PATTERN", "expected AS", ""),
        (query("PREV(A.id) AS a"), "PREV", "PREV is not supported", "LAST(variable.column, 1)"),
        (query("CLASSIFIER() AS a"), "CLASSIFIER", "CLASSIFIER is not supported", ""),
        (query("RUNNING LAST(A.id) AS a"), "RUNNING", "RUNNING is not supported", ""),
        (query("LAST(A.v, B.v) AS a"), "B.v) AS", "constant number from 0", ""),
        (query("LAST(A.v, -1) AS a"), "-1", "constant number from 0", ""),
        (query("LAST(A.v + B.v) AS a"), "A.v + B.v", "Multiple pattern variables in", ""),
        (query("SUM(A.v + B.v) AS a"), "A.v + B.v", "Multiple pattern variables in", ""),
        (query("LAST(LAST(A.v)) AS a"), "LAST(A.v)", "LAST may not stand in an operand of LAST", ""),
        (query("LAST(SUM(A.v)) AS a"), "SUM(A.v)", "SUM may not stand in an operand of LAST", ""),
        (query("SUM(DISTINCT A.v) AS a"), "SUM", "DISTINCT in an aggregate of MATCH_RECOGNIZE", ""),
        (query("SUM(A.v) FILTER (WHERE A.v > 1) AS a"), "SUM", "FILTER in an aggregate of MATCH_RECOGNIZE", ""),
        (query("MATCH_ROWTIME(A.plain) AS a"), "MATCH_ROWTIME", "takes the column that rows are ordered by", ""),
        (query("(SELECT 1) AS a"), "(SELECT 1)", "a subquery in MATCH_RECOGNIZE is not supported", ""),
        (query("ROW_NUMBER() OVER (ORDER BY ts) AS a"), "ROW_NUMBER", "OVER may not stand in", ""),
        (query(define="B AS B.v"), "B.v) AS m", "DEFINE needs a BOOLEAN", ""),
        (query(define="B AS B.v > 1, B AS B.v > 2"), "MATCH_RECOGNIZE", "DEFINE has B twice", ""),
        (query(define="B AS UPPER(A.n) = B.n"), "UPPER", "the condition of B is not supported", "subquery below"),
        (query(define="B AS MATCH_ROWTIME() IS NULL"), "MATCH_ROWTIME", "is a measure", ""),
        (query(define="B AS LISTAGG(A.n) = 'x'"), "LISTAGG", "LISTAGG may not stand in DEFINE", "Use COUNT"),
        (query(define="B AS AVG(A.d) > 1"), "AVG", "AVG of DECIMAL may not stand in DEFINE", "DOUBLE"),
        (query(source="cdc", measures="A.v AS a"), "MATCH_RECOGNIZE", "doesn't support consuming update", "only come"),
        (query(source="totals", measures="A.v AS a"), "MATCH_RECOGNIZE", "You must specify either rowtime", ""),
        (query().replace("DEFINE " + RISE, ""), ") AS m", "expected DEFINE", ""),
        (query().replace("MEASURES A.id AS a", ""), "PATTERN", "expected MEASURES", ""),
        (query().replace("PATTERN", "ALL ROWS PER MATCH PATTERN"), "ALL ROWS", "ALL ROWS PER MATCH is not", "FIRST"),
        (query().replace("DEFINE", "SUBSET U = (A, B) DEFINE"), "SUBSET", "SUBSET is not supported", "without one"),
        (query(source="TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND))"), "MATCH_RECOGNIZE", "behind what",
         "subquery"),
    ],
)  # fmt: skip
def test_others_are_refused_at_their_place(given: str, line: str, message: str, hint: str) -> None:
    with pytest.raises(SqlError) as error:
        graph(given)
    assert message in error.value.message
    assert hint in (error.value.hint or "")
    assert error.value.position is not None
    assert given[error.value.position.column - 1 :].startswith(line)


def test_batch_mode_is_refused() -> None:
    with pytest.raises(SqlError, match="Match is not supported in batch"):
        graph(query(), {"execution.runtime-mode": "batch"})


def test_what_is_computed_of_a_row_is_computed_below() -> None:
    nodes = graph(query(define="A AS UPPER(A.n) LIKE 'X%' AND A.v > 1, B AS B.v > A.v AND MOD(B.v, 2) = 0")).nodes
    (node,) = (each for each in nodes if isinstance(each, Match))
    calcs = [each.description for each in nodes if isinstance(each, Calc)]
    assert calcs[0] == "Calc(select=[k, v, id, ts, (LIKE(UPPER(n), 'X%') AND (v > 1)) AS $f4, (MOD(v, 2) = 0) AS $f5])"
    assert node.description == (
        "Match(partitionBy=[k], orderBy=[ts ASC], measures=[FINAL(LAST(A.id, 0)) AS a], "
        "rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO NEXT ROW], pattern=[(A B)], "
        "define=[{A=LAST(A.$f4, 0), B=((LAST(B.v, 0) > LAST(A.v, 0)) AND LAST(B.$f5, 0))}])"
    )


@pytest.mark.parametrize(
    ("measure", "pattern", "type"),
    [
        ("A.id", "A B", "INT NOT NULL"),
        ("B.id", "A B?", "INT"),
        ("LAST(A.id, 1)", "A B", "INT"),
        ("LAST(A.id, 1)", "A{2} B", "INT NOT NULL"),
        ("FIRST(id, 1)", "A B", "INT NOT NULL"),
        ("id", "A B", "INT NOT NULL"),
        ("A.v", "A B", "INT"),
        ("SUM(A.id)", "A B", "INT"),
        ("COUNT(A.id)", "A B", "BIGINT NOT NULL"),
        ("AVG(A.d)", "A B", "DECIMAL(38, 6)"),
        ("A.r.x", "A B", "INT"),
        ("A.ts", "A B", "TIMESTAMP(3)"),
        ("UPPER(A.k) || B.k", "A B", "STRING"),
        ("MATCH_ROWTIME()", "A B", "TIMESTAMP(3) NOT NULL *ROWTIME*"),
        ("MATCH_ROWTIME(ts)", "A B", "TIMESTAMP(3) NOT NULL *ROWTIME*"),
    ],
)
def test_a_measure_may_be_null_where_there_may_be_no_row(measure: str, pattern: str, type: str) -> None:
    found = graph(query(f"{measure} AS m", pattern, "X AS TRUE"))
    (sink,) = found.roots()
    (above,) = found.inputs_of(sink)
    assert str(above.output_type.fields[1].type) == type


def test_otherwise_than_flink() -> None:
    # Flink calls a column that no row has -1 if it is NOT NULL, and fails on {0,2}, COUNT(1) and NULLS LAST.
    node = match(query("B.id AS a, COUNT(1) AS n", "A B{0,2} C", order="ORDER BY ts, v NULLS LAST"))
    assert node.match_spec.measures[0].type.nullable
    assert str(node.match_spec.pattern[1]) == "B{0,2}"
    assert [each.null_is_last for each in node.match_spec.order_by.fields] == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pattern": []}, "needs variables"),
        ({"pattern": [{"name": "A"}, {"name": "A"}]}, "each of them once"),
        ({"pattern": [{"name": "A", "minRows": 2}, {"name": "B"}]}, "takes 2 to 1 rows"),
        ({"pattern": [{"name": "A"}, {"name": "B", "maxRows": -1}]}, "may not end in a greedy"),
        ({"partition": [9]}, "column 9"),
        ({"orderBy": {"fields": [{"index": 0}]}}, "ascending order of a time"),
        ({"after": {"skip": "TO FIRST", "variable": "X"}}, "names no variable"),
        ({"measures": [{"variable": "X", "argList": [3], "type": "INT NOT NULL"}]}, "no variable of its pattern"),
        ({"measures": [{"variable": "A", "argList": [], "type": "INT NOT NULL"}]}, "reads no value"),
        ({"measures": [{"variable": "A", "argList": [0], "type": "INT NOT NULL"}]}, "LAST of k STRING is INT NOT NULL"),
        ({"references": [{"variable": "A", "function": "$LISTAGG$1", "argList": [0], "type": "STRING"}],
          "definitions": []}, "cannot read LISTAGG of A"),
        ({"definitions": [{"variable": "B", "condition": {"kind": "INPUT_REF", "inputIndex": 7, "type": "BOOLEAN"}}]},
         "references of the match"),
    ],
)  # fmt: skip
def test_plans_are_checked(change: dict[str, object], message: str) -> None:
    changed = json.loads(plan(query()).as_json_string())
    for node in changed["nodes"]:
        if node["type"] == "stream-exec-match_1":
            node["matchSpec"].update(change)
    with pytest.raises(PlanError, match=message):
        load(json.dumps(changed))
