"""`rekindle check`: says what would become of a pipeline's state in another plan, before anything runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from rekindle.cli.arguments import AsJson, AsMarkdown, Bootstrap, Map, only_one
from rekindle.cli.inputs import read_script, reading
from rekindle.cli.terminal import coloured

if TYPE_CHECKING:
    from execnodes.core.graph import ExecGraph
    from rekindle.report.checked import Checked


def check(
    plans: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="OLD NEW",
            help="Plan that runs now, and the one to go on with its state; also scripts (.sql).",
            show_default=False,
        ),
    ] = None,
    savepoint: Annotated[
        Path | None,
        typer.Option("--savepoint", "-s", metavar="DIR", help="What the state is; OLD may then be newer or older."),
    ] = None,
    bootstrap: Bootstrap = None,
    moves: Map = None,
    against_git: Annotated[
        str | None,
        typer.Option(
            "--against-git",
            metavar="REV",
            help="Compare the plans given (all that have changed, if none is) with themselves in a git revision.",
        ),
    ] = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Say for each state whether NEW keeps it. Exit code 0 full, 3 incompatible, 4 partial, 5 unknown."""
    only_one(as_json=as_json, as_markdown=as_markdown)
    from rekindle.report.checked import worst
    from rekindle.statements.evolution import parse_moves

    given = plans or []
    if against_git is not None:
        if savepoint is not None:
            raise typer.BadParameter("a savepoint has one plan; give OLD and NEW", param_hint="--against-git")
        if bootstrap:
            raise typer.BadParameter("operators are those of one plan; give OLD and NEW", param_hint="--bootstrap")
        found, new = _against_git(against_git, given)
        _show_all(against_git, found, new, as_json=as_json, as_markdown=as_markdown)
        raise typer.Exit(worst(each.verdict for each in found).exit_code)
    if len(given) != 2:
        raise typer.BadParameter(f"give two plans, not {len(given)}", param_hint="OLD NEW")
    one = _pair(given[0], given[1], savepoint, bootstrap or [], parse_moves(",".join(moves or [])))
    _show(one, as_json=as_json, as_markdown=as_markdown)
    raise typer.Exit(one.verdict.exit_code)


def _pair(old: Path, new: Path, savepoint: Path | None, bootstrap: Sequence[str], moves: Mapping[str, str]) -> Checked:
    from rekindle.report.checked import checked

    before = (str(old), _graph(old))
    after = (str(new), _graph(new, before[1], moves))
    if old.resolve() == new.resolve():
        print(f"{old} is compared with itself", file=sys.stderr)
    return checked(before, after, savepoint, bootstrap, moves)


def _graph(path: Path, old: ExecGraph | None = None, moves: Mapping[str, str] = MappingProxyType({})) -> ExecGraph:
    """The nodes of a plan file, or of a script that is compiled for it: from the `old` plan, if there is one."""
    from plans.evolution.evolve import evolve
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.results.compiled_plan import CompiledPlan

    if path.suffix.lower() != ".sql":
        return CompiledPlan.from_file(path).graph
    script = read_script(path)
    with reading(script):
        made = TableEnvironment.create().compile_script(script.text).graph
        return made if old is None else evolve(old, made, moves=moves).graph


def _against_git(revision: str, given: Sequence[Path]) -> tuple[list[Checked], list[Path]]:
    """What was compared, and the plans that the revision does not have."""
    from rekindle.cli.git_plans import changed_plans, plan_at, relative
    from rekindle.report.checked import checked
    from rekindle.results.compiled_plan import CompiledPlan

    found, new = [], []
    for path in given or changed_plans(revision):
        after = CompiledPlan.from_file(path)
        text = plan_at(revision, path)
        if text is None:
            new.append(path)
            continue
        name = f"{revision}:{relative(path)}"
        before = CompiledPlan(text, source=name).graph
        found.append(replace(checked((name, before), (str(path), after.graph)), in_git=True))
    return found, new


def _show(found: Checked, *, as_json: bool, as_markdown: bool) -> None:
    from rekindle.report.documents import checked_document
    from rekindle.report.markdown import checked_markdown
    from rekindle.report.texts import checked_lines, print_checked

    if as_json:
        print(json.dumps(checked_document(found), indent=2, ensure_ascii=False))
    elif as_markdown:
        print(checked_markdown(found), end="")
    elif sys.stdout.isatty():
        print_checked(found, coloured(sys.stdout))
    else:
        print("\n".join(checked_lines(found)))


def _show_all(
    revision: str, found: Sequence[Checked], new: Sequence[Path], *, as_json: bool, as_markdown: bool
) -> None:
    """Every plan with a title; JSON has a list of them."""
    from rekindle.report.checked import worst
    from rekindle.report.documents import checked_document

    if as_json:
        plans = [{"plan": each.new, **checked_document(each)} for each in found]
        verdict = str(worst(each.verdict for each in found))
        print(
            json.dumps({"verdict": verdict, "plans": plans, "new": list(map(str, new))}, indent=2, ensure_ascii=False)
        )
        return
    for each in found:
        if not as_markdown:
            print(f"{each.old} -> {each.new}")
        _show(each, as_json=False, as_markdown=as_markdown)
        print()
    print("\n".join(_left(revision, bool(found), new)))


def _left(revision: str, any_found: bool, new: Sequence[Path]) -> Iterator[str]:
    yield from (f"{path} is new: {revision} does not have it." for path in new)
    if not any_found and not new:
        yield f"No plan has changed since {revision}."
