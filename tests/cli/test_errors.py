"""What users read when something goes wrong."""

from __future__ import annotations

import pytest

from execnodes.core.errors import JobError, Position, RekindleError, SqlError
from execnodes.core.places import Place
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
            JobError("division by zero", where="INSERT INTO o, line 2, column 8: nope + 1").at(
                Place("INSERT INTO o", 2, 8, "nope + 1")
            ),
            SCRIPT,
            [
                "error: division by zero",
                "  at INSERT INTO o, line 2, column 8: nope + 1",
                "    |",
                "  2 | SELECT nope FROM t",
                "    |        ^",
            ],
        ),
        (
            JobError("NULL", where="INSERT INTO o, line 1, column 1").at(Place("INSERT INTO o", 1, 1)),
            Script("job.sql", "insert into o SELECT 1"),
            [
                "error: NULL",
                "  at INSERT INTO o, line 1, column 1",
                "    |",
                "  1 | insert into o SELECT 1",
                "    | ^",
            ],
        ),
        *(
            (JobError("no", where=str(place)).at(place), SCRIPT, ["error: no", f"  at {place}"])
            # A view's own text, another script, nothing there.
            for place in (Place("view v", 2, 8, "nope + 1"), Place("INSERT INTO o", 1, 1), Place("", 9, 9, "nope"))
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
