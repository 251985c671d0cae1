"""Who may import whom and when: compiling needs no Spark, and sqlglot stays at home."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.completeness.tree import KEYS, ROOT, imports, module_name, node_file, sources, tree

HEAVY = ("pyspark", "polars", "pyarrow", "pandas", "numpy", "duckdb")


@pytest.mark.parametrize("path", [node_file(key) for key in KEYS], ids=module_name)
def test_nodes_import_kernels_only_when_they_run(path: Path) -> None:
    names = set(imports(path, top_level=True))
    assert not {name.split(".")[0] for name in names} & set(HEAVY)
    assert not {name for name in names if name.startswith(("execnodes.state", "execnodes.kernels", "execnodes.engine"))}


def test_compiling_loads_no_engine() -> None:
    """All that is imported from SQL to the text of a plan, in a process of its own."""
    modules = [
        module_name(path)
        for path in sources("planner", "plans", "execnodes/core")
        if path.name != "__main__.py"
    ] + [key.module for key in KEYS]  # fmt: skip
    program = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        f"print(*sorted({set(HEAVY)!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


@pytest.mark.parametrize("path", sources("execnodes", "plans", "planner", "rekindle"), ids=module_name)
def test_only_the_parser_knows_sqlglot(path: Path) -> None:
    knows = [name for name in imports(path) if name.split(".")[0] == "sqlglot"]
    assert not knows or path.parent == ROOT / "planner" / "sql"


@pytest.mark.parametrize("path", sources("execnodes", "rekindle"), ids=module_name)
def test_what_is_used_of_pyspark_is_in_all_its_releases(path: Path) -> None:
    """What it has for pandas and Arrow inside changes from release to release."""
    inside = ("pyspark.sql.pandas", "pyspark.sql.conversion", "pyspark.worker", "pyspark.serializers", "pyspark.util")
    assert not [name for name in imports(path) if name.startswith(inside)]


def test_the_houses_keep_their_order() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sources("execnodes", "rekindle"), ids=module_name)
def test_only_one_module_changes_spark_sessions(path: Path) -> None:
    """Jobs share sessions: what one of them set would hold for the others."""
    called = (each.func for each in ast.walk(tree(path)) if isinstance(each, ast.Call))
    setters = [each for each in called if isinstance(each, ast.Attribute) and each.attr in ("set", "unset")]
    on_conf = [each for each in setters if isinstance(each.value, ast.Attribute) and each.value.attr == "conf"]
    assert not on_conf or path == ROOT / "rekindle" / "spark" / "session.py"
