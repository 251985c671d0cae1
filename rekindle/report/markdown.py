"""Verdicts and differences as Markdown for pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from plans.evolution.diff import PlanDifference
from rekindle.report.advice import next_steps
from rekindle.report.checked import SENTENCES, Checked
from rekindle.report.signs import FATES, STANDINGS, VERDICTS, fate_words
from rekindle.report.texts import kinds, twin_text


def checked_markdown(found: Checked) -> str:
    """Verdict, a row a state, and the commands to run next."""
    title = f"### {VERDICTS[found.verdict]} {escaped(found.new)}: {found.verdict}"
    before = f"State of {_code(found.old)}" + (f", saved in {_code(found.savepoint)}" if found.savepoint else "")
    parts = [title, f"{SENTENCES[found.verdict]} {before} is compared with what {_code(found.new)} means."]
    if found.comparison.judgements:
        parts.append("\n".join(_fates(found)))
    if found.comparison.remarks:
        parts.append("\n".join(f"- {escaped(note)}" for note in found.comparison.remarks))
    parts.append("**What to run next**")
    parts.append("\n".join(_steps(found)))
    return "\n\n".join(parts) + "\n"


def difference_markdown(old: str, new: str, found: PlanDifference) -> str:
    """A summary, and a table of the nodes that differ."""
    parts = [f"### {escaped(old)} → {escaped(new)}", escaped(found.summary).capitalize() + "."]
    rows = [(_code(each.path), _value(each.old), _value(each.new)) for each in found.header]
    if rows:
        parts.append("\n".join(_table(("plan", "old", "new"), rows)))
    if found.changed:
        parts.append("\n".join(_table(("node", "what", "operators", "changes"), _nodes(found))))
    edges = [f"+ `{source} → {target}`" for source, target in found.edges_added]
    edges += [f"− `{source} → {target}`" for source, target in found.edges_removed]
    if edges:
        parts.append(f"Edges: {', '.join(edges)}")
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, also in a table."""
    lines = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", lines)


def _fates(found: Checked) -> Iterator[str]:
    head = ["fate", "operator", "state", *(["rows", "bytes"] if found.saved else []), "reason"]
    rows = []
    for each in found.comparison.judgements:
        size = found.size(each)
        sizes = ["", ""] if size is None else [f"{number:,}" for number in size]
        fate = f"{FATES[each.fate]} {fate_words(each)}"
        rows.append([fate, _code(each.uid), _code(each.state), *(sizes if found.saved else []), escaped(each.reason)])
    return _table(head, rows)


def _steps(found: Checked) -> Iterator[str]:
    for number, each in enumerate(next_steps(found), 1):
        yield f"{number}. {escaped(each.text)}"
        if each.commands:
            yield "\n".join(["   ```", *(f"   {command}" for command in each.commands), "   ```"])


def _nodes(found: PlanDifference) -> Iterator[Sequence[str]]:
    for each in found.changed:
        changes = [f"{_code(change.path)}: {_value(change.old)} → {_value(change.new)}" for change in each.changes]
        changes = changes or [escaped(side.description) for side in (each.old, each.new) if side is not None]
        changes += [twin_text(each)] if each.twin is not None else []
        what = f"{STANDINGS[each.standing]} {each.standing}<br>{_code(kinds(each))}"
        yield str(each.id), what.replace("~", r"\~"), ", ".join(map(_code, each.uids)), "<br>".join(changes)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _value(text: str | None) -> str:
    return "nothing" if text is None else _code(text)


def _code(text: str) -> str:
    """A code span; a pipe would end the cell, and backticks the span, so text with either is written without one."""
    return escaped(text) if "`" in text or "|" in text or not text else f"`{text}`"
