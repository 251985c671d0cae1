"""`rekindle state`: the group of commands, and those that describe: `list` and `inspect`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rekindle.cli.arguments import AsJson, Options
from rekindle.cli.inputs import configured
from rekindle.cli.state_edit import edit, import_rows
from rekindle.cli.state_rows import as_json_row, export, find, print_rows, query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rekindle.savepoints.manifest import Manifest, SavedState, Step
    from rekindle.savepoints.reader import Skew

state = typer.Typer(name="state", help="The state of jobs and savepoints.", no_args_is_help=True)
Source = Annotated[str, typer.Argument(metavar="SAVEPOINT|JOB", help="A savepoint's folder, or a job.")]
_BARS = "▁▂▃▄▅▆▇█"
_MOST_BARS = 32


@state.callback()
def _group() -> None:
    """The state of jobs and savepoints."""


@state.command("list")
def list_states(source: Source, as_json: AsJson = False, options: Options = None) -> None:
    """List the states: rows, bytes, and how evenly the rows are spread over the key groups."""
    from rekindle.jobs.state import opened
    from rekindle.results.tableau import tableau

    with opened(source, configured(options)) as reader:
        found = [(each, reader.skew(each.title)) for each in reader.states]
    if as_json:
        print(json.dumps([_listed(*each) for each in found], indent=2, ensure_ascii=False))
    elif not found:
        print("No state: no operator of the plan keeps any.")
    else:
        heads = ["uid", "state", "rows", "bytes", "key", "groups", "min", "median", "max", "rows by key group"]
        rows = [
            [
                each.uid, each.name, f"{each.rows:,}", f"{each.bytes:,}", ", ".join(each.key), len(skew.rows),
                f"{skew.smallest:,}", f"{skew.median:,}", f"{skew.largest:,}", bar(skew.rows),
            ]
            for each, skew in found
        ]  # fmt: skip
        for line in tableau(heads, (), rows):
            print(line)


@state.command()
def inspect(
    source: Source,
    address: Annotated[
        str | None, typer.Argument(metavar="[UID[:NAME]]", help="Show the rows of these states.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, metavar="N", help="Most rows of a state.")] = 20,
    as_json: AsJson = False,
    options: Options = None,
) -> None:
    """Show the states: rows, bytes, keys, columns, what they mean, their history; with a uid, also their rows."""
    from rekindle.jobs.state import opened
    from rekindle.savepoints.reader import chosen

    with opened(source, configured(options)) as reader:
        states = list(reader.states) if address is None else chosen(reader.manifest, address)
        skews = [reader.skew(each.title) for each in states]
        rows = [reader.rows(each.title, limit) if address is not None else None for each in states]
        manifest = reader.manifest
    if as_json:
        documents = [
            _document(each, skew, manifest, found) for each, skew, found in zip(states, skews, rows, strict=True)
        ]
        print(json.dumps(documents, indent=2, ensure_ascii=False, default=str))
        return
    if not states:
        print("No state: no operator of the plan keeps any.")
    for each, skew, found in zip(states, skews, rows, strict=True):
        print("\n".join(_described(each, skew, _history(each, manifest))))
        if found is not None:
            _print_first(each, found)


def bar(counts: Iterable[int]) -> str:
    """A block a key group, its height by its rows; of many groups some go together."""
    rows = list(counts)
    width = -(-len(rows) // _MOST_BARS)
    parts = [sum(rows[at : at + width]) for at in range(0, len(rows), width)]
    most = max(parts, default=0)
    # Groups of one row are still seen; empty ones are a point.
    return "".join(_BARS[max(0, -(-each * len(_BARS) // most) - 1)] if each else "·" for each in parts)


def _listed(state: SavedState, skew: Skew) -> dict[str, Any]:
    return {
        "uid": state.uid,
        "name": state.name,
        "rows": state.rows,
        "bytes": state.bytes,
        "key": list(state.key),
        "ttl_ms": state.ttl_ms,
        "max_parallelism": state.max_parallelism,
        "key_groups": {
            "min": skew.smallest, "median": skew.median, "max": skew.largest, "rows": list(skew.rows),
        },
    }  # fmt: skip


def _document(state: SavedState, skew: Skew, manifest: Manifest, rows: list[dict[str, Any]] | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        **_listed(state, skew),
        "columns": [{"name": name, "type": t} for name, t in state.schema],
        "bucketed": state.bucketed,
        "meaning": {
            **{label: term.text for label, term in state.parts.items()},
            "columns": {name: term.text for (name, _), term in zip(state.schema, state.meanings, strict=True)},
        },
        "history": [
            {
                "operation": each.operation, "rows_before": each.rows_before, "rows_after": each.rows_after,
                "detail": each.detail, "columns_before": [{"name": n, "type": t} for n, t in each.schema_before],
            }
            for each in _history(state, manifest)
        ],
    }  # fmt: skip
    return described if rows is None else {**described, "values": [as_json_row(row) for row in rows]}


def _history(state: SavedState, manifest: Manifest) -> list[Step]:
    """What migrations did to a state, also while it had another name."""
    title, found = state.title, []
    for each in reversed(manifest.history):
        if each.title == title:
            found.append(each)
            title = each.detail.removeprefix("from ") if each.operation == "rename" else title
    return found[::-1]


def _described(state: SavedState, skew: Skew, history: list[Step]) -> list[str]:
    from execnodes.terms.shown import shown

    ttl = f", ttl {state.ttl_ms} ms" if state.ttl_ms else ""
    columns = zip(state.schema, map(shown, state.meanings), strict=True)
    spread = f"min {skew.smallest:,}, median {skew.median:,}, max {skew.largest:,} rows"
    return [
        f"{state.title}  {state.rows:,} rows, {state.bytes:,} bytes, max parallelism {state.max_parallelism}{ttl}",
        f"    key groups: {bar(skew.rows)}  {spread}",
        *(f"    {label}: {shown(term)}" for label, term in state.parts.items()),
        *(f"    {name} {t}{'  key' if name in state.key else ''}  {meaning}" for (name, t), meaning in columns),
        *(line for each in history for line in _told(each)),
    ]


def _told(step: Step) -> Iterator[str]:
    yield f"    history: {step}"
    if step.schema_before:
        yield f"        columns before: {', '.join(f'{name} {t}' for name, t in step.schema_before)}"


def _print_first(state: SavedState, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    columns = [name for name in rows[0] if any(row[name] is not None for row in rows) or not name.startswith("rk_")]
    print_rows(columns, ([row[name] for name in columns] for row in rows), count=False)
    if len(rows) < state.rows:
        print(f"The first {len(rows):,} of {state.rows:,} rows; --limit N shows more.")


state.command()(query)
state.command()(find)
state.command()(export)
state.command("import")(import_rows)
state.command()(edit)
