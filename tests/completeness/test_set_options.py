"""Options that shared helpers of tests set have a reason in a list, and a test that runs their default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from execnodes.core.options import OPTIONS, SPARK_PREFIX, ConfigOption
from rekindle.spark import session
from rekindle.testing import runner

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests" / "conformance" / "README.md"
KNOWN: dict[str, ConfigOption] = {key: each for each in OPTIONS.values() for key in (each.key, *each.fallback_keys)}
_ROW = re.compile(r"^\| ((?:`[^`]+`(?:, )?)+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/.]+\.py)`")


@dataclass(frozen=True)
class Row:
    """A line of the table: options, where they are set, why, and what runs with their defaults."""

    keys: tuple[str, ...]
    where: str
    reason: str
    default: str


def rows() -> list[Row]:
    table = PAGE.read_text(encoding="utf-8").partition("## Options that tests set")[2]
    return [Row(tuple(re.findall("`([^`]+)`", found[1])), *found.groups()[1:]) for found in _ROW.finditer(table)]


def helpers() -> list[Path]:
    """Files that many tests share; what a test of one option sets is that test's own."""
    files = (file for file in (ROOT / "tests").rglob("*.py") if not file.name.startswith("test_"))
    return sorted([*files, *(ROOT / "rekindle" / "testing").rglob("*.py")])


def keys_in(text: str) -> Iterator[str]:
    """Options that a file sets to something but their default: keys of dicts, `put(key, …)`, and SETs in scripts."""
    for node in ast.walk(ast.parse(text)):
        pairs: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "put":
            pairs = [(node.args[0], node.args[1])] if len(node.args) == 2 else []
        for key, value in pairs:
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _is_set(key.value, value):
                yield key.value
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (key for key, value in re.findall(r"SET '([^']+)' = '([^']*)'", node.value) if key in KNOWN)


def _is_set(key: str, value: ast.expr) -> bool:
    if key.startswith(SPARK_PREFIX):
        return True
    return key in KNOWN and not (isinstance(value, ast.Constant) and value.value == KNOWN[key].default)


def found() -> dict[str, list[str]]:
    """Options to the files that set them."""
    result: dict[str, list[str]] = {}
    for file in helpers():
        for key in keys_in(file.read_text(encoding="utf-8")):
            result.setdefault(key, []).append(file.relative_to(ROOT).as_posix())
    for key in session.SMALL_PROGRAMS:
        result.setdefault(key, []).append("rekindle/spark/session.py")
    return result


def test_every_option_that_helpers_set_has_a_reason() -> None:
    listed = {key for row in rows() for key in row.keys}
    missing = {key: files for key, files in found().items() if key not in listed}
    assert missing == {}, f"add them to the table in {PAGE.relative_to(ROOT)}, and run their defaults somewhere"


def test_the_list_has_nothing_that_is_not_set() -> None:
    assert [key for row in rows() for key in row.keys if key not in found()] == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.keys[0])
def test_a_row_is_whole(row: Row) -> None:
    assert all(each.strip() for each in (row.where, row.reason, row.default))
    tests = _TEST.findall(row.default)
    assert tests, "name a test that runs the default"
    assert [name for name in tests if not (ROOT / name).is_file()] == []


def test_an_option_is_found_however_it_is_set() -> None:
    default = OPTIONS["parallelism.default"].default
    assert list(keys_in('x = {"parallelism.default": "1", "spark.a": "b", "other.key": "c"}')) == [
        "parallelism.default",
        "spark.a",
    ]
    assert list(keys_in(f'x = {{"parallelism.default": "{default}"}}')) == []
    assert list(keys_in('c.put("table.exec.state.ttl", "1 h")')) == ["table.exec.state.ttl"]
    assert list(keys_in("x = \"SET 'table.exec.state.ttl' = '1 h'\"")) == ["table.exec.state.ttl"]


def test_what_programs_run_with_is_found() -> None:
    """The harness of conformance programs sets these in a dict, wherever it stands."""
    assert {"table.exec.lateness.granularity", "parallelism.default"} <= set(keys_in(Path(runner.__file__).read_text()))
