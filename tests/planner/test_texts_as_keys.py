"""Which joins compare a time with a text is as Flink 2.3 has it: no key, everything else."""

from __future__ import annotations

import pytest

from execnodes.core.errors import Position, SqlError
from rekindle import TableEnvironment

DDL = """
CREATE TABLE a (id INT, d DATE, t TIME, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3), s VARCHAR(20))
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE c (id INT, d DATE NOT NULL, s VARCHAR(20), x STRING NOT NULL)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
"""
SELECT = "SELECT 1 FROM "
REFUSED = (
    "a JOIN c ON |a.d = c.s",
    "a JOIN c ON |c.x = a.t",
    "a JOIN c ON |a.ts = c.s",
    "a JOIN c ON |a.l = c.s",
    "a LEFT JOIN c ON a.id = c.id AND |a.d = c.s",
    "a LEFT JOIN c ON a.id = c.id WHERE |a.d = c.s",
    "a FULL JOIN c ON a.id = c.id AND |a.d = a.s",
    "a, c WHERE |a.d = c.s",
    "a JOIN c ON |CAST(a.ts AS DATE) = UPPER(c.s)",
    "a JOIN c ON |a.d IS NOT DISTINCT FROM c.s",
    "a WHERE |d IN (SELECT s FROM c)",
    "a WHERE |s IN (SELECT d FROM c)",
    "a WHERE |(id, d) IN (SELECT id, s FROM c)",
    "c WHERE |d NOT IN (SELECT x FROM c)",
    "a WHERE |d = SOME (SELECT s FROM c)",
    "a WHERE |d = (SELECT MAX(s) FROM c)",
    "a WHERE d IN (SELECT |s FROM c) OR id = 1",
    "a WHERE EXISTS (SELECT 1 FROM c WHERE |c.s = a.d)",
    "a WHERE NOT EXISTS (SELECT 1 FROM c WHERE |c.s = a.d)",
    "a CROSS JOIN LATERAL (SELECT * FROM c WHERE |c.s = a.d) AS z",
)
"""A bar stands where the comparison begins."""
TAKEN = (
    "a JOIN c ON a.id = c.id AND a.d <> c.s",
    "a JOIN c ON a.id = c.id AND a.d < c.s",
    "a JOIN c ON a.id = c.id AND a.d BETWEEN c.s AND c.x",
    "a JOIN c ON a.id = c.id AND (a.d = c.s OR a.id = 1)",
    "a JOIN c ON a.d = COALESCE(c.s, a.s)",
    "a JOIN c ON a.id = c.id AND a.d = '2020-01-01'",
    "a JOIN c ON a.d = CAST(c.s AS DATE)",
    "a JOIN c ON a.d = TRY_CAST(c.s AS DATE)",
    "a JOIN c ON CAST(a.d AS STRING) = c.s",
    "a WHERE d NOT IN (SELECT s FROM c)",
    "a WHERE d = s",
    "a WHERE d IN (s, '2020-01-01')",
)


def compile_join(join: str, mode: str) -> None:
    made = TableEnvironment.create({"execution.runtime-mode": mode})
    made.execute_script(DDL)
    made.compile_script(SELECT + join)


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize("join", REFUSED)
def test_a_time_and_a_text_are_no_key(join: str, mode: str) -> None:
    with pytest.raises(SqlError, match=r"a join cannot compare (DATE|TIME\(0\)|TIMESTAMP(_LTZ)?\(3\)) with ") as caught:
        compile_join(join.replace("|", ""), mode)
    assert caught.value.position == Position(1, len(SELECT) + 1 + join.index("|"))
    assert caught.value.hint is not None
    assert "TRY_CAST" in caught.value.hint


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize("join", TAKEN)
def test_other_comparisons_of_times_with_texts_are_taken(join: str, mode: str) -> None:
    compile_join(join, mode)
