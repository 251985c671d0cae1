"""`rekindle state query`, `find` and `export`: rows of a savepoint's states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rekindle.cli.arguments import AsJson, Options
from rekindle.cli.inputs import configured

Source = Annotated[str, typer.Argument(metavar="SAVEPOINT|JOB", help="A savepoint's folder, or a job.")]


def query(
    source: Source,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT, in DuckDB's dialect.")],
    as_json: AsJson = False,
    options: Options = None,
) -> None:
    """Query states with SQL: tables are "UID"."NAME", and savepoint, which lists them; docs/state.md has more."""
    from rekindle.jobs.state import opened

    with opened(source, configured(options)) as reader, reader.query(sql) as (columns, rows):
        if as_json:
            print_json(columns, rows)
        else:
            print_rows(columns, rows)


def find(
    source: Source,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Values that a row's key has.")],
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Search columns outside the key, too.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="Most rows of a state.")] = 20,
    as_json: AsJson = False,
    options: Options = None,
) -> None:
    """Show the rows of a key in all states, and the key group they belong to."""
    from rekindle.jobs.state import opened

    with opened(source, configured(options)) as reader:
        found = list(reader.find(keys, anywhere=anywhere, limit=limit))
    if as_json:
        documents = [
            {
                "uid": each.state.uid, "name": each.state.name, "key_group": group,
                "row": as_json_row(dict(zip(each.columns, row, strict=True))),
            }
            for each in found
            for row, group in zip(each.rows, each.groups, strict=True)
        ]  # fmt: skip
        print(json.dumps(documents, indent=2, ensure_ascii=False, default=str))
        return
    if not found:
        print(f"No state has a row with {' and '.join(keys)}{'' if anywhere else ' in its key'}.")
    for each in found:
        print(f"{each.state.title}  max parallelism {each.state.max_parallelism}")
        rows = ((group, *row) for row, group in zip(each.rows, each.groups, strict=True))
        print_rows(["key group", *each.columns], rows, count=False)


def export(
    source: Source,
    address: Annotated[str, typer.Argument(metavar="UID:NAME", help="The state.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="New file: .parquet, .csv or .json (lines).")
    ],
    options: Options = None,
) -> None:
    """Write the rows of a state into a file."""
    from rekindle.jobs.state import opened
    from rekindle.savepoints.exchange import export_state

    with opened(source, configured(options)) as reader:
        rows = export_state(reader, address, output)
    print(f"{rows:,} rows of {address} in {output}")


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, count: bool = True) -> None:
    """A table of rows; with `count`, how many there are stands below."""
    from execnodes.core.changelog import RowKind
    from rekindle.results.tableau import Tableau

    table = Tableau(columns, (), changes=False)
    part: list[tuple[RowKind, list[Any]]] = []
    for row in rows:
        part.append((RowKind.INSERT, [shown(value) for value in row]))
        if len(part) == 1000:
            _print(table.add(part))
            part = []
    _print(table.add(part))
    _print(table.end() if count else table.close())


def print_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows as a JSON array of objects, a line each."""
    first = True
    print("[", end="")
    for row in rows:
        text = json.dumps(as_json_row(dict(zip(columns, row, strict=True))), ensure_ascii=False, default=str)
        print("\n" if first else ",\n", text, sep="  ", end="")
        first = False
    print("]" if first else "\n]")


def as_json_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose values JSON can hold, or `str`."""
    return {name: shown(value) for name, value in row.items()}


def shown(value: Any) -> Any:
    """A value for people: bytes as ``x'00ff'``."""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else value


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
