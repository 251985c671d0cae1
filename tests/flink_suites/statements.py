"""Texts of Calcite's tests of parsers, and of the scripts of Flink's SQL gateway: what Flink and this engine take."""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from execnodes.core.errors import RekindleError
from planner.parse import parse
from rekindle.api.table_environment import TableEnvironment
from tests.flink_suites.flink import gateway_tests, parsers, refusals

_ANSWER = re.compile(r"(?P<sql>.*?)^!output$(?P<output>.*?)^!(?P<end>\w+)\s*$", re.DOTALL | re.MULTILINE)
_RUN = frozenset({"sql/set.q", "sql/catalog_database.q", "sql/view.q", "sql/table.q"})
"""Scripts of which all statements are run that need no rows."""
_NEEDS_ROWS = re.compile(
    r"\s*(?:SELECT|INSERT|EXECUTE|EXPLAIN|BEGIN|WITH|REPLACE|CREATE OR REPLACE|CREATE TABLE \w+ AS)\b", re.IGNORECASE
)
_PLACE = re.compile(r"\$VAR_\w+")
"""A folder that a script leaves to whom runs it."""
_UNASKED = re.compile(r"not found in any|not found$|Cannot find|function signature (?:topn|dedup|similarlity|CURSOR)\b")
"""What Flink's planner says where it does not come to the statement itself, as its tables or columns are not there."""


@dataclass(frozen=True, eq=False)
class Statement:
    """A text, and what Flink has against it."""

    suite: str
    id: str
    sql: str
    refused: bool
    """Whether Flink's parser refuses it."""
    refused_later: str | None
    """What Flink's planner has against it, if its parser has nothing."""
    functions: tuple[str, ...] = ()
    runs: bool = False
    """Whether it is run, after those before it in its script; else it is parsed."""


def read_statements() -> list[Statement]:
    """All there are, in order."""
    return [*_of_parsers(), *_of_scripts()]


def _of_parsers() -> Iterator[Statement]:
    path = parsers()
    tests = json.loads(path.read_text(encoding="utf-8"))
    taken = [case["sql"] for cases in tests.values() for case in cases if case["refusal"] is None]
    asked = [
        _completed(test, case["sql"]) for test, cases in tests.items() for case in cases if case["refusal"] is None
    ]
    later = dict(zip(taken, refusals(path, asked), strict=True))
    for test, cases in tests.items():
        for number, case in enumerate(cases):
            sql, refused = case["sql"], case["refusal"] is not None
            planner = None if refused else later[sql]
            yield Statement("SqlParserTest", f"SqlParserTest/{test}/{number}", sql, refused, planner)


def _completed(test: str, sql: str) -> str:
    """A text with the table behind it, of `tables.sql`, whose columns its expressions name."""
    bare = _EXPRESSION.match(sql)
    if bare is None or _FROM.search(sql):
        return sql
    return f"SELECT {sql[bare.end() :]} FROM {_OPERANDS.get(test.removeprefix('test')[:8], 'texts')}"


_EXPRESSION = re.compile(r"SELECT\s+|values\s+(?=[a-z])", re.IGNORECASE)
_FROM = re.compile(r"\bFROM\b", re.IGNORECASE)
_OPERANDS = {
    "Overlaps": "times",
    **dict.fromkeys(("IsASet", "MemberOf", "SubMulti", "Multiset"), "multisets"),
}
"""Tables of operands by the first letters of a test's name."""


def _of_scripts() -> Iterator[Statement]:
    with zipfile.ZipFile(gateway_tests()) as jar:
        scripts = sorted(name for name in jar.namelist() if name.endswith(".q"))
        texts = {name: jar.read(name).decode() for name in scripts}
    for name, text in texts.items():
        kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        for number, found in enumerate(_ANSWER.finditer(kept)):
            failed = found["end"] == "error"
            refused = failed and "SqlParse" in found["output"]
            said = found["output"].strip().splitlines()[0] if failed and not refused else None
            sql = found["sql"].strip()
            runs = name in _RUN and not _NEEDS_ROWS.match(sql)
            yield Statement("SqlGateway", f"SqlGateway/{name}/{number}", sql, refused, said, runs=runs)


def statement_problems(statements: Iterable[Statement]) -> Iterator[tuple[Statement, str]]:
    """Each with what is wrong about this engine's answer; empty where both take a text, or neither does."""
    for script, group in groupby(statements, key=lambda each: each.id.rpartition("/")[0]):
        with tempfile.TemporaryDirectory() as folder:
            environment = TableEnvironment.create() if script.endswith(".q") else None
            for each in group:
                sql = _PLACE.sub(folder, each.sql)
                run = environment.execute_sql if environment is not None and each.runs else parse
                yield each, _problem(each, sql.rstrip().removesuffix(";") if each.runs else sql, run)


def _problem(statement: Statement, sql: str, run: Callable[[str], object]) -> str:
    try:
        run(sql)
    except RekindleError as error:
        if statement.refused or (statement.refused_later and not _is_unasked(statement)):
            return ""
        return f"refused: {str(error).splitlines()[0]}" + (" [not asked]" if statement.refused_later else "")
    except Exception as error:  # noqa: BLE001  # a defect that the ledger is to name
        return f"not an error of ours: {error!r}"[:200]
    taken = "taken: by the parser" if statement.refused else ""
    return "taken: and run" if statement.runs and statement.refused_later else taken


def _is_unasked(statement: Statement) -> bool:
    return not statement.suite.startswith("SqlGateway") and bool(_UNASKED.search(statement.refused_later or ""))
