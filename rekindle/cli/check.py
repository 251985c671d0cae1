"""`rekindle check`: says what would become of a pipeline's state in another plan, before anything runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rekindle.cli.arguments import AsJson

if TYPE_CHECKING:
    from plans.compare import Comparison, Judgement
    from rekindle.savepoints.manifest import SavedState

EXIT_CODES = {"full": 0, "incompatible": 3, "partial": 4, "unknown": 5}
"""By verdict."""

Saved = Mapping[tuple[str, str], "SavedState"]


def check(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Plan that runs now.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Plan that is to go on with its state.")],
    savepoint: Annotated[
        Path | None,
        typer.Option("--savepoint", "-s", metavar="DIR", help="What the state is; OLD may then be newer or older."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say for each state whether NEW keeps it. Exit code 0 full, 3 incompatible, 4 partial, 5 unknown."""
    from plans.compare import compare
    from plans.meaning import meanings
    from rekindle.compiled_plan import CompiledPlan

    before, after = (meanings(CompiledPlan.from_file(path).graph) for path in (old, new))
    if old.resolve() == new.resolve():
        print(f"{old} is compared with itself", file=sys.stderr)
    saved: Saved = {}
    if savepoint is not None:
        from rekindle.savepoints.manifest import read

        manifest = read(savepoint)
        before, saved = manifest.meanings, {(each.uid, each.name): each for each in manifest.states}
    found = compare(before, after)
    if as_json:
        print(json.dumps(_document(found, saved), indent=2, ensure_ascii=False))
    elif sys.stdout.isatty():
        _table(found, saved)
    else:
        for each in found.judgements:
            print(f"{each.fate:12}  {each.uid}:{each.state}{_size(each, saved)}  {each.reason}")
        print(f"verdict: {found.verdict}")
    raise typer.Exit(EXIT_CODES[found.verdict])


def _document(found: Comparison, saved: Saved) -> dict[str, object]:
    operators = []
    for each in found.judgements:
        operator: dict[str, object] = {
            "uid": each.uid, "state": each.state, "fate": str(each.fate), "reason": each.reason,
        }  # fmt: skip
        state = saved.get((each.uid, each.state))
        if state is not None:
            operator |= {"rows": state.rows, "bytes": state.bytes}
        if each.columns:
            operator["columns"] = dict(each.columns)
        operators.append(operator)
    return {"verdict": str(found.verdict), "operators": operators}


def _size(each: Judgement, saved: Saved) -> str:
    state = saved.get((each.uid, each.state))
    return "" if state is None else f" ({state.rows} rows, {state.bytes} bytes)"


def _table(found: Comparison, saved: Saved) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    colours = {"keep": "green", "convert": "green", "empty": "yellow", "drop": "yellow", "incompatible": "red"}
    columns = ["fate", "operator", "state", *(["rows", "bytes"] if saved else []), "reason"]
    table = Table(*columns, title=f"verdict: {found.verdict}", title_justify="left")
    for each in found.judgements:
        state = saved.get((each.uid, each.state))
        size = ["", ""] if state is None else [f"{state.rows:,}", f"{state.bytes:,}"]
        fate = f"[{colours[each.fate]}]{each.fate}[/]"
        table.add_row(fate, escape(each.uid), escape(each.state), *(size if saved else []), escape(each.reason))
    Console(highlight=False).print(table)
