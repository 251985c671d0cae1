"""`rekindle state inspect`: what a job remembers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rekindle.cli.arguments import AsJson, Options
from rekindle.cli.inputs import configured

if TYPE_CHECKING:
    from rekindle.savepoints.manifest import SavedState

state = typer.Typer(name="state", help="The state of jobs and savepoints.", no_args_is_help=True)


@state.callback()
def _group() -> None:
    """The state of jobs and savepoints."""


@state.command()
def inspect(
    source: Annotated[str, typer.Argument(metavar="JOB_OR_SAVEPOINT", help="A savepoint's folder, or a job.")],
    address: Annotated[
        str | None, typer.Argument(metavar="[UID[:NAME]]", help="Show the rows of these states.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, metavar="N", help="Most rows of a state.")] = 20,
    as_json: AsJson = False,
    options: Options = None,
) -> None:
    """Show the states of a job or savepoint: rows, bytes, keys, columns; with a uid, also their rows."""
    from rekindle.jobs.state import chosen, opened, rows_of

    with opened(source, configured(options)) as (folder, manifest):
        states = list(manifest.states) if address is None else chosen(manifest, address)
        rows = [(each, rows_of(folder, each, limit) if address is not None else None) for each in states]
    if as_json:
        print(json.dumps([_as_json(*each) for each in rows], indent=2, ensure_ascii=False, default=str))
    elif address is None:
        _print_states(states)
    else:
        for each, found in rows:
            _print_rows(each, found or [])


def _as_json(state: SavedState, rows: list[dict[str, Any]] | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "uid": state.uid,
        "name": state.name,
        "rows": state.rows,
        "bytes": state.bytes,
        "key": list(state.key),
        "columns": [{"name": name, "type": t} for name, t in state.schema],
        "ttl_ms": state.ttl_ms,
        "max_parallelism": state.max_parallelism,
        "meaning": {
            **state.parts,
            "columns": dict(zip((name for name, _ in state.schema), state.meanings, strict=True)),
        },
    }
    return described if rows is None else {**described, "values": rows}


def _print_states(states: list[SavedState]) -> None:
    if not states:
        print("No state: no operator of the plan keeps any.")
    for each in states:
        print("\n".join(_described(each)))


def _described(state: SavedState) -> list[str]:
    from execnodes.core.meaning import readable

    ttl = f", ttl {state.ttl_ms} ms" if state.ttl_ms else ""
    columns = zip(state.schema, map(readable, state.meanings), strict=True)
    return [
        f"{state.title}  {state.rows:,} rows, {state.bytes:,} bytes, max parallelism {state.max_parallelism}{ttl}",
        *(f"    {label}: {readable(text)}" for label, text in state.parts.items()),
        *(f"    {name} {t}{'  key' if name in state.key else ''}  {meaning}" for (name, t), meaning in columns),
    ]


def _print_rows(state: SavedState, rows: list[dict[str, Any]]) -> None:
    from execnodes.core.changelog import RowKind
    from rekindle.tableau import Tableau

    print("\n".join(_described(state)))
    if not rows:
        return
    columns = [name for name in rows[0] if any(row[name] is not None for row in rows) or not name.startswith("rk_")]
    table = Tableau(columns, (), changes=False)
    for line in table.add((RowKind.INSERT, [row[name] for name in columns]) for row in rows):
        print(line)
    print("\n".join(table.close()))
    if len(rows) < state.rows:
        print(f"The first {len(rows):,} of {state.rows:,} rows; --limit N shows more.")
