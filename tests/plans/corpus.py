"""Plans of all conformance programs, and the goldens they are compared with: ``python -m tests.plans.corpus`` rewrites.

Goldens: the tree of every program with its changelog modes, a file an area; and the whole JSON of few small programs,
which between them hold every node version that any program has. Of batch mode: the trees of TPC-H, and the JSON of few
programs again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from execnodes.core.errors import RekindleError
from execnodes.core.graph import ExecGraph
from plans.format.explain import plan_tree
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan

PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
TPCH = Path(__file__).parents[2] / "examples" / "tpch"
GOLDENS = Path(__file__).with_name("goldens")
_SHARES = 4
BATCH = {"execution.runtime-mode": "batch"}


@cache
def compiled() -> dict[str, CompiledPlan | RekindleError]:
    """``area/name`` of every program to its plan, or why there is none."""
    return {name: compile_program(name, {}) for name in _names()}


@cache
def compiled_for_batch() -> dict[str, CompiledPlan | RekindleError]:
    """The same in batch mode, and the queries of TPC-H as ``tpch/q01``, ….

    Programs that must be refused are left out: batch mode may well take them.
    """
    answered = (name for name in _names() if not (PROGRAMS / name / "refused.txt").exists())
    return {**tpch(), **{name: compile_program(name, BATCH) for name in answered}}


def _names() -> Iterator[str]:
    return (file.parent.relative_to(PROGRAMS).as_posix() for file in sorted(PROGRAMS.rglob("program.sql")))


def compile_program(name: str, options: Mapping[str, str]) -> CompiledPlan | RekindleError:
    """One program, with paths that are the same on every machine."""
    script = (PROGRAMS / name / "program.sql").read_text(encoding="utf-8")
    try:
        return TableEnvironment.create(options).compile_script(script.replace("${dir}", f"/programs/{name}"))
    except RekindleError as error:
        return error


def tpch() -> dict[str, CompiledPlan | RekindleError]:
    """The plans of TPC-H's queries."""
    ddl = (TPCH / "ddl.sql").read_text(encoding="utf-8").replace("${dir}", "/tpch")
    queries = sorted(TPCH.glob("q*.sql"))
    scripts = {f"tpch/{each.stem}": f"{ddl}\n{each.read_text(encoding='utf-8')}" for each in queries}
    return {name: TableEnvironment.create(BATCH).compile_script(script) for name, script in scripts.items()}


def graphs() -> dict[str, ExecGraph]:
    """Those that could be compiled, of both modes; batch ones have names that begin with ``batch/``."""
    plans = {**compiled(), **{f"batch/{name}": plan for name, plan in compiled_for_batch().items()}}
    return {name: plan.graph for name, plan in plans.items() if isinstance(plan, CompiledPlan)}


def shares() -> tuple[object, ...]:
    """Parameters of tests over all plans: in the fast suite those of `cover` and a quarter of the others."""
    return (0, *(pytest.param(share, marks=pytest.mark.long) for share in range(1, _SHARES)))


def graphs_of(share: int) -> dict[str, ExecGraph]:
    """Those of a share."""
    found = graphs()
    first = set(cover()) if share == 0 else set[str]()
    return {name: graph for at, (name, graph) in enumerate(found.items()) if at % _SHARES == share or name in first}


def plan_of(name: str) -> CompiledPlan:
    """The plan of a name of `graphs`."""
    plan = compiled_for_batch()[name[6:]] if name.startswith("batch/") else compiled()[name]
    assert isinstance(plan, CompiledPlan)
    return plan


def goldens() -> dict[Path, str]:
    """Path to text of every golden file."""
    trees: dict[str, list[str]] = {}
    for name, plan in compiled().items():
        text = "\n".join([*plan_tree(plan.graph), ""]) if isinstance(plan, CompiledPlan) else f"refused: {plan}\n"
        trees.setdefault(name.split("/")[0], []).append(f"== {name} ==\n{text}")
    trees["tpch"] = [f"== {name} ==\n" + "\n".join([*plan_tree(plan_of(f"batch/{name}").graph), ""]) for name in tpch()]
    files = {GOLDENS / f"{area}.txt": "\n".join(parts) for area, parts in trees.items()}
    for name in cover():
        files[GOLDENS / f"{name.replace('/', '-')}.json"] = plan_of(name).as_json_string()
    return files


def cover() -> list[str]:
    """Of each node version the smallest program that has it, in order of their names."""
    smallest: dict[str, str] = {}
    for name, graph in sorted(graphs().items(), key=lambda each: (len(each[1].nodes), each[0])):
        for node in graph.nodes:
            smallest.setdefault(str(node.key), name)
    return sorted(set(smallest.values()))


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
