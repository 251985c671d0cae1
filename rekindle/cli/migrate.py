"""`rekindle migrate`: a new savepoint from an old one, with other uids, states, key groups, rows or plan."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from execnodes.core.words import counted
from rekindle.cli.arguments import AsJson
from rekindle.cli.errors import describe_error

if TYPE_CHECKING:
    from rekindle.savepoints.writer import Migrated, SavepointWriter

_BY_ROWS = re.compile(r"(?is)([^,()\s]+)\s*,\s*([^,()\s]+)\s+where\s+(.+)")
_BY_COLUMNS = re.compile(r"\s*([^,()\s]+)\s*\(([^()]*)\)\s*(?:,|$)")
Several = list[str] | None


def migrate(
    savepoint: Annotated[Path, typer.Argument(metavar="SAVEPOINT", help="A savepoint's folder; it is only read.")],
    to: Annotated[Path | None, typer.Option("--to", metavar="NEW", help="New folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do and check everything, but write nothing.")] = False,
    drop: Annotated[Several, typer.Option("--drop", metavar="UID[:NAME]", help="Leave a state out.")] = None,
    rename_uid: Annotated[
        Several, typer.Option("--rename-uid", metavar="OLD=NEW", help="Another uid for an operator or source.")
    ] = None,
    move_files: Annotated[
        Several, typer.Option("--move-files", metavar="OLD=NEW", help="Folder of files that a source has read.")
    ] = None,
    split: Annotated[
        Several,
        typer.Option(
            "--split",
            metavar="OLD=…",
            help="Two operators from one: 'OLD=A,B WHERE condition' or 'OLD=A(column, …),B(column, …)'.",
        ),
    ] = None,
    merge: Annotated[
        Several, typer.Option("--merge", metavar="A,B=NEW", help="One operator from several with disjoint keys.")
    ] = None,
    imports: Annotated[
        Several, typer.Option("--import", metavar="UID:NAME=FILE", help="Rows from a .parquet, .csv or .json file.")
    ] = None,
    transform: Annotated[
        Several,
        typer.Option("--transform", metavar="UID:NAME=MODULE:FUNCTION", help="Rows that a function makes of them."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="PLAN", help="Put this plan in, if the states go on in it.")
    ] = None,
    accept_meaning: Annotated[
        Several,
        typer.Option("--accept-meaning", metavar="UID:NAME", help="The rows are now what --plan says of this state."),
    ] = None,
    allow_non_restored_state: Annotated[
        bool, typer.Option("--allow-non-restored-state", help="States may be lost, or begin empty, in --plan.")
    ] = False,
    allow_duplicate_keys: Annotated[
        bool, typer.Option("--allow-duplicate-keys", help="Keys that had one row may have several.")
    ] = False,
    max_parallelism: Annotated[
        int | None, typer.Option("--max-parallelism", metavar="N", help="Key groups of the plan.")
    ] = None,
    exports: Annotated[
        Several, typer.Option("--export", metavar="UID:NAME=FILE", help="Write the new rows of a state to a file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a new savepoint: states renamed, dropped, split, merged, transformed, or put under another plan.

    What is asked for is done in the order in which the options are listed here; each state is logged with its rows.
    """
    target = new_savepoint(to, dry_run)
    if plan is None and (accept_meaning or allow_non_restored_state):
        raise typer.BadParameter("this is about the states of --plan", param_hint="--plan")
    renames = dict(_pair(each, "--rename-uid", "OLD=NEW") for each in rename_uid or ())
    moves = [_pair(each, "--move-files", "OLD=NEW") for each in move_files or ()]
    splits = [_split(each) for each in split or ()]
    merges = [_pair(each, "--merge", "A,B=NEW") for each in merge or ()]
    loads = [_pair(each, "--import", "UID:NAME=FILE") for each in imports or ()]
    functions = [_pair(each, "--transform", "UID:NAME=MODULE:FUNCTION") for each in transform or ()]
    targets = [_pair(each, "--export", "UID:NAME=FILE") for each in exports or ()]
    from rekindle.savepoints.user_frames import load_function
    from rekindle.savepoints.writer import SavepointWriter

    writer = SavepointWriter.from_existing_savepoint(savepoint)
    writer.allow_duplicate_keys = allow_duplicate_keys
    for address in drop or ():
        writer.remove_operator(address)
    if renames:
        writer.change_operator_identifier(renames)
    for old, new in moves:
        writer.move_source_files(old, new)
    for old, how in splits:
        _add_split(writer, old, how)
    for uids, new in merges:
        writer.merge_operators([each.strip() for each in uids.split(",")], new)
    for address, file in loads:
        writer.with_state(address, file)
    for address, name in functions:
        writer.transform_state(address, load_function(name))
    if plan is not None:
        from rekindle.results.compiled_plan import CompiledPlan

        writer.with_plan(
            CompiledPlan.from_file(plan),
            accept=accept_meaning or (),
            allow_non_restored_state=allow_non_restored_state,
        )
    if max_parallelism is not None:
        writer.with_max_parallelism(max_parallelism)
    for address, file in targets:
        writer.export_state(address, file)
    carry_out(writer, target, as_json=as_json)


def new_savepoint(to: Path | None, dry_run: bool) -> Path | None:
    """Where the savepoint goes; None for a dry run."""
    if to is None and not dry_run:
        raise typer.BadParameter("give --to NEW, or --dry-run", param_hint="--to")
    return None if dry_run else to


def carry_out(writer: SavepointWriter, target: Path | None, *, as_json: bool) -> None:
    """Write the savepoint, or rehearse without a target, and show what was done to each state."""
    from rekindle.savepoints.migrations.adopt import PlanRefused

    try:
        migrated = writer.rehearse() if target is None else writer.write(target)
    except PlanRefused as refused:
        for line in describe_error(refused):
            print(line, file=sys.stderr)
        raise typer.Exit(refused.verdict.exit_code) from None
    if as_json:
        print(json.dumps(_document(migrated, target), indent=2, ensure_ascii=False))
        return
    for step, seconds in migrated.steps:
        print(f"{step}, {seconds:.1f} s")
    states = migrated.manifest.states
    print(f"{counted(len(states), 'state')}, {counted(sum(each.rows for each in states), 'row')}.")
    print("Dry run: nothing has been written." if target is None else f"Savepoint {target}")


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    left, _, right = text.partition("=")
    if not left.strip() or not right.strip():
        raise typer.BadParameter(f"{text!r} is not of the form {form}", param_hint=option)
    return left.strip(), right.strip()


def _split(text: str) -> tuple[str, tuple[str, str, str] | Mapping[str, list[str]]]:
    old, how = _pair(text, "--split", "OLD=A,B WHERE … or OLD=A(…),B(…)")
    rows = _BY_ROWS.fullmatch(how)
    if rows is not None:
        return old, (rows[1], rows[2], rows[3])
    if re.fullmatch(f"(?:{_BY_COLUMNS.pattern})+", how):
        return old, {
            uid: [each.strip() for each in columns.split(",") if each.strip()]
            for uid, columns in _BY_COLUMNS.findall(how)
        }
    raise typer.BadParameter(f"{text!r} is neither of the form OLD=A,B WHERE … nor OLD=A(…),B(…)", param_hint="--split")


def _add_split(writer: SavepointWriter, old: str, how: tuple[str, str, str] | Mapping[str, list[str]]) -> None:
    if isinstance(how, tuple):
        writer.split_operator(old, *how)
    else:
        writer.split_operator_columns(old, how)


def _document(migrated: Migrated, target: Path | None) -> dict[str, Any]:
    return {
        "savepoint": None if target is None else str(target),
        "steps": [
            {
                "operation": step.operation, "uid": step.uid, "name": step.name, "rows_before": step.rows_before,
                "rows_after": step.rows_after, "seconds": round(seconds, 3), "detail": step.detail,
            }
            for step, seconds in migrated.steps
        ],
        "states": [
            {"uid": each.uid, "name": each.name, "rows": each.rows, "bytes": each.bytes}
            for each in migrated.manifest.states
        ],
    }  # fmt: skip
