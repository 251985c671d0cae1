"""Plans of all conformance programs, and the goldens they are compared with: ``python -m tests.plans.corpus`` rewrites.

Goldens: the tree of every program with its changelog modes, a file an area; and the whole JSON of few programs, which
between them hold every node version that any program has.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from execnodes.core.errors import RekindleError
from execnodes.core.graph import ExecGraph
from plans.explain import plan_tree
from rekindle.compiled_plan import CompiledPlan
from rekindle.table_environment import TableEnvironment

PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
GOLDENS = Path(__file__).with_name("goldens")


@cache
def compiled() -> dict[str, CompiledPlan | RekindleError]:
    """``area/name`` of every program to its plan, or why there is none."""
    names = (file.parent.relative_to(PROGRAMS).as_posix() for file in sorted(PROGRAMS.rglob("program.sql")))
    return {name: compile_program(name) for name in names}


def compile_program(name: str) -> CompiledPlan | RekindleError:
    """One program, with paths that are the same on every machine."""
    script = (PROGRAMS / name / "program.sql").read_text(encoding="utf-8")
    try:
        return TableEnvironment.create().compile_script(script.replace("${dir}", f"/programs/{name}"))
    except RekindleError as error:
        return error


def graphs() -> dict[str, ExecGraph]:
    """Those that could be compiled."""
    return {name: plan.graph for name, plan in compiled().items() if isinstance(plan, CompiledPlan)}


def goldens() -> dict[Path, str]:
    """Path to text of every golden file."""
    trees: dict[str, list[str]] = {}
    for name, plan in compiled().items():
        text = "\n".join([*plan_tree(plan.graph), ""]) if isinstance(plan, CompiledPlan) else f"refused: {plan}\n"
        trees.setdefault(name.split("/")[0], []).append(f"== {name} ==\n{text}")
    files = {GOLDENS / f"{area}.txt": "\n".join(parts) for area, parts in trees.items()}
    for name in cover():
        plan = compiled()[name]
        assert isinstance(plan, CompiledPlan)
        files[GOLDENS / f"{name.replace('/', '-')}.json"] = plan.as_json_string()
    return files


def cover() -> list[str]:
    """The first program of each node version, in order."""
    first: dict[str, str] = {}
    for name, graph in graphs().items():
        for node in graph.nodes:
            first.setdefault(str(node.key), name)
    return sorted(set(first.values()))


def rewrite() -> None:
    """Make the golden files those of today."""
    GOLDENS.mkdir(exist_ok=True)
    wanted = goldens()
    for path in set(GOLDENS.iterdir()) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
