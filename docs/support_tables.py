"""Writes the tables of support.md that say what is supported, from the code: ``python -m docs.support_tables``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from docs.markers import between_markers
from execnodes import aggregates
from execnodes.connectors import connectors
from execnodes.core.connectors import ConnectorDeclaration, FormatDeclaration
from execnodes.core.node import ExecNode
from execnodes.core.registry import keys, lookup
from execnodes.functions.function import Template
from execnodes.functions.registry import functions, newest
from execnodes.functions.unsupported import INSTEAD
from rekindle.connectors.format import RecordFormat
from rekindle.connectors.formats import formats

SCORE = Path(__file__).parents[1] / "tests" / "flink_suites" / "score.json"
PAGE = Path(__file__).with_name("support.md")


def render() -> str:
    """The tables."""
    public = sorted(name for name in aggregates.FUNCTIONS if not name.startswith("$"))
    parts = [
        *_table("Node", "What it does", "Keeps state", rows=_nodes()),
        *_table("Connector", "Source", "Sink", "Needs", rows=_connectors()),
        *_table("Format", "Made of", "They hold", "Needs", rows=_formats()),
        f"Aggregate functions: {_listed(public)}.\n\n",
        *_table("Scalar function or operator", "Takes", "In Spark SQL", rows=_functions()),
        *_table("Function of Flink that there is not", "Instead", rows=_missing()),
        "Cases of Flink 2.3's own tests of functions and expressions, of the parser's that Calcite has, and of the "
        "scripts of its SQL gateway (`make test-flink`); those that do not pass stand by name, with the reason, in "
        "[the ledger](../tests/flink_suites/ledger.txt). A text that Flink's parser takes and Rekindle refuses passes "
        "where Flink's planner refuses it too, over tables of `tests/flink_suites/tables.sql`.\n\n",
        *_table("Test class", "Cases", "Pass", "Not supported", "Java's own", "Not asked", "Other", rows=_suites()),
    ]
    return "".join(parts)


def _suites() -> Iterator[tuple[str, ...]]:
    score = json.loads(SCORE.read_text(encoding="utf-8"))
    total = {"cases": 0}
    for suite, counts in score.items():
        yield suite, *_counts(counts)
        total = {key: total.get(key, 0) + counts.get(key, 0) for key in {*total, *counts}}
    yield "all", *_counts(total)


def _counts(of: Mapping[str, int]) -> tuple[str, ...]:
    kinds = [sum(of.get(reason, 0) for reason in reasons) for reasons in _KINDS]
    return tuple(map(str, (of["cases"], of["pass"], *kinds, of["cases"] - of["pass"] - sum(kinds))))


_KINDS = (("missing", "nanoseconds"), ("java", "input", "api"), ("unasked",))


def _table(*head: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n"
    yield from (f"| {' | '.join(row)} |\n" for row in rows)
    yield "\n"


def _nodes() -> Iterator[tuple[str, ...]]:
    for key in keys():
        cls = lookup(key)
        summary = (cls.__doc__ or "").strip().splitlines()[0].replace("|", "\\|")
        yield f"`{key}`", summary, "no" if cls.uids is ExecNode.uids else "yes"


def _connectors() -> Iterator[tuple[str, ...]]:
    for each in connectors():
        roles = ("no" if role is None else "yes" for role in (each.source, each.sink))
        yield f"`{each.identifier}`", *roles, _jars(each)


def _formats() -> Iterator[tuple[str, ...]]:
    for name, each in sorted(formats().items()):
        of, holds = "records" if isinstance(each, RecordFormat) else "files", "changes" if each.changelog else "rows"
        yield f"`{name}`", of, holds, _jars(each.declaration)


def _jars(declared: ConnectorDeclaration | FormatDeclaration) -> str:
    return _listed(jar.artifact for jar in declared.jars) or "no jars"


def _functions() -> Iterator[tuple[str, ...]]:
    """The newest version of each: its Spark SQL where that is one text, else the module that makes it."""
    for name in sorted({name for name, _ in functions()}):
        function = newest(name)
        if function is not None:
            lower = function.lower
            shown = f"`{lower.text}`" if isinstance(lower, Template) else f"by `{_maker(lower)}`"
            yield tuple(each.replace("|", "\\|") for each in (f"`{name}`", "; ".join(function.signatures), shown))


def _missing() -> Iterator[tuple[str, ...]]:
    yield from sorted((f"`{name}`", instead) for name, instead in INSTEAD.items())


def _maker(lower: object) -> str:
    """The module of the function that lowers."""
    return str(getattr(lower, "__module__", "")).rpartition(".")[2]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`".replace("|", "\\|") for name in names)


def inserted(page: str) -> str:
    """The page with the tables between the markers; ValueError if it has none."""
    return between_markers(page, "support tables", render())


if __name__ == "__main__":
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
