"""`rekindle compile`: a script to a plan file. Needs no Spark and no Java."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from execnodes.core.options import CONSENT
from execnodes.core.words import counted
from rekindle.cli.arguments import AsJson, Bootstrap, InitFile, Map, Options
from rekindle.cli.inputs import parse_options, read_script, reading

if TYPE_CHECKING:
    from plans.compatibility.compare import Comparison
    from rekindle.results.compiled_plan import CompiledPlan

BOOTSTRAP, MAP = "table.plan.evolution.bootstrap", "table.plan.evolution.map"


def compile(
    file: Annotated[Path, typer.Option("-f", "--file", metavar="FILE", help="SQL script; - reads stdin.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PLAN", help="Plan file to write; standard output if left out."),
    ] = None,
    origin: Annotated[
        Path | None,
        typer.Option("--from", metavar="OLD", help="Plan whose state the new one goes on with (query evolution)."),
    ] = None,
    consent: Annotated[
        str | None,
        typer.Option("--consent", metavar="WHAT", help="State that is lost: await_approval, allow or reject."),
    ] = None,
    bootstrap: Bootstrap = None,
    moves: Map = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan file.")] = False,
    init: InitFile = None,
    options: Options = None,
    as_json: AsJson = False,
) -> None:
    """Run a script's DDL and compile its one INSERT, statement set or SELECT into a plan.

    With --from, operators that mean the same as in OLD keep their uids, hence their state. Exit code 3 if that cannot
    be, 4 if state would be lost without consent, 5 if it cannot be judged; then nothing is written.
    """
    if as_json and (output is None or str(output) == "-"):
        raise typer.BadParameter("the plan itself goes to standard output; give -o PLAN", param_hint="--json")
    configuration = parse_options(options or [])
    if consent is not None:
        configuration[CONSENT] = consent
    if bootstrap:
        configuration[BOOTSTRAP] = ",".join(bootstrap)
    if moves:
        configuration[MAP] = ",".join(moves)
    first = read_script(init) if init else None
    script = read_script(file)
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.statements.execute import unkept_lines

    environment = TableEnvironment.create(configuration)
    if sys.stdin.isatty() and sys.stderr.isatty() and str(file) != "-":
        environment.approve = _approve
    if first is not None:
        with reading(first):
            environment.execute_script(first.text)
    with reading(script):
        plan = environment.compile_script(script.text, from_plan=origin)
    for line in unkept_lines(plan):
        print(line, file=sys.stderr)
    if output is None or str(output) == "-":
        if plan.comparison is not None:
            show(plan.comparison, sys.stderr)
        sys.stdout.write(plan.as_json_string())
        return
    if plan.comparison is not None and not as_json:
        show(plan.comparison, sys.stdout)
    plan.write_to_file(output, ignore_if_exists=False, force=force)
    if as_json:
        print(json.dumps(_document(plan, output), indent=2, ensure_ascii=False))
    else:
        print(f"{output}: {counted(len(plan.graph.nodes), 'node')}, engine version {plan.get_engine_version()}")


def _document(plan: CompiledPlan, output: Path) -> dict[str, object]:
    """What was made: options of the job that the plan keeps, options that it does not, and the verdict with --from."""
    from rekindle.report.documents import comparison_document

    document: dict[str, object] = {
        "plan": str(output),
        "engineVersion": plan.get_engine_version(),
        "nodes": len(plan.graph.nodes),
        "configuration": dict(plan.graph.job_options),
        "notKept": list(plan.unkept),
    }
    return document if plan.comparison is None else document | comparison_document(plan.comparison)


def show(comparison: Comparison, to: TextIO) -> None:
    """A line for each state, then the verdict."""
    for each in comparison.judgements:
        print(f"{each.fate:12}  {each.title}  {each.reason}", file=to)
    for note in comparison.remarks:
        print(f"note: {note}", file=to)
    print(f"verdict: {comparison.verdict}", file=to)


def _approve(comparison: Comparison) -> bool:
    """Ask on a terminal."""
    show(comparison, sys.stderr)
    return typer.confirm("Make the plan all the same?", default=False, err=True)
