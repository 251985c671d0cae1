"""Verdicts and differences as plain lines and for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from execnodes.core.words import one_line
from plans.compatibility.compare import Judgement
from plans.evolution.diff import NodeDifference, PlanDifference, Standing
from rekindle.report.checked import Checked
from rekindle.report.signs import FATES, STANDING_COLOURS, STANDINGS, VERDICTS, fate_words, tone

_COLOURS = {"good": "green", "warn": "yellow", "bad": "red", "odd": "magenta"}


def checked_lines(found: Checked) -> Iterator[str]:
    """A line a state, a note, then the verdict."""
    for each in found.comparison.judgements:
        yield one_line(f"{each.fate:12}  {each.uid}:{each.state}{_size(found, each)}  {each.reason}")
    yield from (one_line(f"{'note':12}  {note}") for note in found.comparison.remarks)
    yield f"verdict: {found.verdict}"


def print_checked(found: Checked, out: TextIO) -> None:
    """A table in colours, for a terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    columns = ["fate", "operator", "state", *(["rows", "bytes"] if found.saved else []), "reason"]
    title = f"verdict: {found.verdict} {VERDICTS[found.verdict]}"
    table = Table(*columns, title=title, title_justify="left")
    for each in found.comparison.judgements:
        size = found.size(each)
        sizes = ["", ""] if size is None else [f"{number:,}" for number in size]
        fate = f"[{_COLOURS[tone(each)]}]{FATES[each.fate]} {fate_words(each)}[/]"
        uid, state, reason = (escape(one_line(text)) for text in (each.uid, each.state, each.reason))
        table.add_row(fate, uid, state, *(sizes if found.saved else []), reason)
    console = Console(file=out, highlight=False)
    console.print(table)
    for note in found.comparison.remarks:
        console.print(f"note: {escape(one_line(note))}")


def difference_lines(found: PlanDifference) -> Iterator[str]:
    """Nodes with what has changed in them, edges, and a summary last."""
    for each in found.header:
        yield one_line(f"~ {each.text}")
    for node in found.changed:
        yield from map(one_line, node_lines(node))
    for sign, edges in (("+", found.edges_added), ("-", found.edges_removed)):
        yield from (f"{sign} edge {source} -> {target}" for source, target in edges)
    yield found.summary


def node_lines(each: NodeDifference) -> Iterator[str]:
    """A node and, indented, its changes."""
    uids = f"  uid {', '.join(each.uids)}" if each.uids else ""
    yield f"{STANDINGS[each.standing]} node {each.id} {each.standing}: {kinds(each)}{uids}"
    for side, sign in ((each.old, "-"), (each.new, "+")):
        if side is not None and each.standing is not Standing.CHANGED:
            yield f"    {sign} {side.description}"
    yield from (f"    {change.text}" for change in each.changes)
    if each.twin is not None:
        yield f"    {twin_text(each)}"


def kinds(each: NodeDifference) -> str:
    """Node types, old and new."""
    types = [str(side.key) for side in (each.old, each.new) if side is not None]
    return " -> ".join(dict.fromkeys(types))


def twin_text(each: NodeDifference) -> str:
    """Where the same node stands under another id."""
    return f"equal to node {each.twin} of the {'new' if each.new is None else 'old'} plan"


def print_difference(found: PlanDifference, out: TextIO) -> None:
    """The lines in colours, for a terminal."""
    from rich.console import Console
    from rich.text import Text

    colours = {STANDINGS[each]: colour for each, colour in STANDING_COLOURS.items()}
    console = Console(file=out, highlight=False, soft_wrap=True)
    for line in difference_lines(found):
        console.print(Text(line, style=colours.get(line.strip()[:1], "default")))


def _size(found: Checked, judgement: Judgement) -> str:
    size = found.size(judgement)
    return "" if size is None else f" ({size[0]} rows, {size[1]} bytes)"
