"""`rekindle explain`: shows the nodes of a plan, or of what a script would compile to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from execnodes.core.words import one_line
from rekindle.cli.arguments import AsJson, Options, ScriptFile
from rekindle.cli.inputs import parse_options, read_script, reading

if TYPE_CHECKING:
    from execnodes.core.graph import ExecGraph


def explain(
    plan: Annotated[Path | None, typer.Argument(metavar="[PLAN]", help="Plan file.")] = None,
    file: ScriptFile = None,
    as_json: AsJson = False,
    lineage: Annotated[
        bool, typer.Option("--lineage", help="Show which table columns feed each column of a sink instead (with -f).")
    ] = False,
    options: Options = None,
) -> None:
    """Show a plan as a tree: nodes, the changes they emit, and the uids of their state."""
    if (plan is None) == (file is None):
        raise typer.BadParameter("give either a plan or -f with a script", param_hint="PLAN")
    if lineage:
        if file is None:
            raise typer.BadParameter("a plan does not say it: give -f with a script", param_hint="--lineage")
        _lineage(file, options or [], as_json)
        return
    from plans.format.explain import plan_json, plan_tree

    graph = _of_plan(plan) if plan is not None else _of_script(file, options or [])
    for line in [plan_json(graph)] if as_json else plan_tree(graph):
        print(line)


def _lineage(file: Path, options: list[str], as_json: bool) -> None:
    import json
    from dataclasses import asdict

    configuration, script = parse_options(options), read_script(file)
    from rekindle.api.table_environment import TableEnvironment

    with reading(script):
        found = TableEnvironment.create(configuration).lineage_of_script(script.text)
    if as_json:
        print(json.dumps([asdict(each) | {"columns": dict(each.columns)} for each in found], indent=2))
        return
    for each in found:
        print(one_line(each.sink))
        for name, sources in each.columns:
            print(one_line(f"  {name} <- {', '.join(sources) or '(no column)'}"))
        print(one_line(f"  rows: {', '.join(each.rows) or '(all)'}"))


def _of_plan(plan: Path) -> ExecGraph:
    from rekindle.results.compiled_plan import CompiledPlan

    return CompiledPlan.from_file(plan).graph


def _of_script(file: Path | None, options: list[str]) -> ExecGraph:
    configuration = parse_options(options)
    assert file is not None
    script = read_script(file)
    from rekindle.api.table_environment import TableEnvironment

    with reading(script):
        return TableEnvironment.create(configuration).compile_script(script.text).graph
