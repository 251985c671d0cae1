"""What users read when something goes wrong."""

from __future__ import annotations

import pytest

from execnodes.core.errors import Position, RekindleError, SqlError
from rekindle.cli.errors import describe_defect, describe_error, excerpt
from rekindle.cli.inputs import Script

SCRIPT = Script("job.sql", "CREATE TABLE t (a INT);\nSELECT nope FROM t\n")


@pytest.mark.parametrize(
    ("error", "script", "expected"),
    [
        (RekindleError("it failed"), None, ["error: it failed"]),
        (
            RekindleError("it failed", where="node 3", hint="Do this.\nOr that."),
            SCRIPT,
            ["error: it failed", "  at node 3", "  hint: Do this.", "        Or that."],
        ),
        (
            SqlError("column nope not found", position=Position(2, 8), hint="Columns: a."),
            SCRIPT,
            [
                "error: column nope not found",
                "  at job.sql, line 2, column 8",
                "    |",
                "  2 | SELECT nope FROM t",
                "    |        ^",
                "  hint: Columns: a.",
            ],
        ),
        (
            SqlError("cut", position=Position(7, 1), where="p.json"),
            None,
            ["error: cut", "  at line 7, column 1, p.json"],
        ),
    ],
)
def test_errors(error: RekindleError, script: Script | None, expected: list[str]) -> None:
    assert list(describe_error(error, script)) == expected


@pytest.mark.parametrize(
    ("text", "position", "caret"),
    [
        ("SELECT é, x", Position(1, 11), 10),
        ("SELECT '日本', x", Position(1, 14), 15),
        ("\tSELECT x", Position(1, 2), 4),
        ("a\nb", Position(2, 2), 1),
    ],
)
def test_the_caret_stands_below_the_column(text: str, position: Position, caret: int) -> None:
    lines = list(excerpt(text, position))
    assert lines[-1].partition("| ")[2] == " " * caret + "^"


@pytest.mark.parametrize("line", [0, 3])
def test_no_excerpt_outside_the_text(line: int) -> None:
    assert list(excerpt("a\nb", Position(line, 1))) == []


def test_defects_are_one_line_and_a_way_to_the_traceback() -> None:
    first, second = describe_defect(ValueError("two\nlines"))
    assert first == "error: unexpected ValueError: two lines"
    assert "REKINDLE_DEBUG=1" in second
