"""Which sqlglot is loaded, and when: its Python build, and only where there is text to parse."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(program: str, *paths: Path) -> str:
    """What a program prints in a process of its own."""
    begin = f"import sys; sys.path[:0] = {[*map(str, paths), str(ROOT)]!r}\n"
    done = subprocess.run([sys.executable, "-c", begin + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def compiled_build(folder: Path) -> Path:
    """A sqlglot with a compiled module beside a Python one, like sqlglotc's."""
    package = folder / "sqlglot"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tokenizer_core.py").write_text("BUILD = 'Python'\n")
    (package / f"tokenizer_core{EXTENSION_SUFFIXES[0]}").write_bytes(b"no library")
    return folder


def test_a_compiled_build_is_passed_by(tmp_path: Path) -> None:
    program = "import planner.sql\nfrom sqlglot import tokenizer_core\nprint(tokenizer_core.BUILD)"
    assert run(program, compiled_build(tmp_path)) == "Python"


def test_a_compiled_build_that_is_loaded_is_refused() -> None:
    program = (
        "import types\nfrom execnodes.core.errors import SqlError\nfrom planner.parse import parse\n"
        "loaded = types.ModuleType('sqlglot.tokenizer_core'); loaded.__file__ = 'tokenizer_core.so'\n"
        "sys.modules['sqlglot.tokenizer_core'] = loaded\n"
        "try:\n    parse('SELECT 1')\nexcept SqlError as error:\n    print(error.message, error.hint)"
    )
    found = run(program)
    assert "compiled build is loaded in this process" in found
    assert "uninstall sqlglotc" in found


def test_plans_need_no_sqlglot() -> None:
    plan = next(iter(sorted((ROOT / "tests" / "restore" / "fixtures").rglob("plan.json"))))
    program = (
        "from rekindle.cli.main import run\n"
        f"plan = {str(plan)!r}\n"
        "for arguments in (['check', plan], ['diff', plan, plan], ['explain', plan], ['lint', plan]):\n"
        "    sys.argv = ['rekindle', *arguments]\n"
        "    try:\n        run()\n    except SystemExit as end:\n        print(end.code, end='')\n"
        "print('sqlglot' in sys.modules)"
    )
    assert run(program).splitlines()[-1].endswith("False")
