"""The whole page: of two plans and what becomes of the state, or of one plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import StateMeaning
from execnodes.core.words import counted
from execnodes.terms.shown import shown
from plans.compatibility.compare import Judgement
from plans.compatibility.plan_meanings import POSITION, meanings
from plans.evolution.merge import Box, MergedGraph, merge
from rekindle.report.advice import next_steps
from rekindle.report.checked import SENTENCES, Checked
from rekindle.report.html.element import Markup, Part, element, joined
from rekindle.report.html.graph import graph_svg, urgency
from rekindle.report.html.nodes import changes_table, code, node_list
from rekindle.report.html.pills import TONES, fate_pill, pill, verdict_sign
from rekindle.report.html.sql import side_by_side


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    id: str
    title: str
    body: Markup


def upgrade_page(checked: Checked, old: ExecGraph, new: ExecGraph, sql: tuple[str, str] | None = None) -> str:
    """Verdict, states, both plans as one graph, SQL before and after, what to run next."""
    merged = merge(old, new)
    fates = _fates_by_box(merged, checked.comparison.judgements)
    sections = [
        Section("next", "What to run next", _steps(checked)),
        Section("state", "State", _fates(checked, merged)),
        Section("graph", "Plans", joined(_summary(merged), _graph(merged, fates))),
        *([Section("sql", "SQL", element("div", side_by_side(*sql), class_="wide"))] if sql else []),
        Section("nodes", "Nodes", node_list(merged, fates, old, new)),
    ]
    title = f"{checked.new}: {checked.verdict}"
    return _page(title, _banner(checked, old, new), sections)


def plan_page(name: str, graph: ExecGraph, sql: str = "") -> str:
    """One plan: its graph, its states, the changes nodes emit."""
    merged = merge(graph, graph)
    sections = [
        Section("state", "State", _states(meanings(graph), merged)),
        Section("graph", "Plan", _graph(merged, {})),
        *([Section("sql", "SQL", element("pre", element("code", sql), class_="wide"))] if sql else []),
        Section("nodes", "Nodes", node_list(merged, {}, graph, graph)),
    ]
    stateful = sum(bool(node.uids()) for node in graph.nodes)
    facts = f"{counted(len(graph.nodes), 'node')}, {stateful} with state, engine version {graph.engine_version}, "
    facts += f"max parallelism {graph.max_parallelism}"
    banner = element("div", element("h1", name), element("p", facts), class_="banner plain")
    return _page(name, banner, sections)


def _page(title: str, banner: Markup, sections: Sequence[Section]) -> str:
    links = [element("a", each.title, href=f"#{each.id}") for each in sections]
    parts = [
        element("section", element("h2", each.title, id=f"{each.id}-title"), each.body, id=each.id,
                aria_labelledby=f"{each.id}-title")
        for each in sections
    ]  # fmt: skip
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} – Rekindle"),
        element("style", _file("style.css")),
    )
    body = joined(
        element("a", "Skip to the content", href="#content", class_="skip"),
        element("header", element("span", "Rekindle", class_="brand"), element("nav", links, aria_label="Sections")),
        element("main", banner, parts, id="content"),
        element("script", _file("script.js")),
    )
    return "<!doctype html>\n" + element("html", element("head", head), element("body", body), lang="en") + "\n"


def _file(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _banner(checked: Checked, old: ExecGraph, new: ExecGraph) -> Markup:
    counts = Counter(map(fate_pill, sorted(checked.comparison.judgements, key=urgency)))
    pills = [joined(each, f" {count}") for each, count in counts.items()]
    versions = f"Engine version {old.engine_version}" + (
        f" → {new.engine_version}" if new.engine_version != old.engine_version else ""
    )
    names = element("p", code(checked.old), " → ", code(checked.new), class_="names")
    text = element(
        "div",
        element("h1", f"Verdict: {checked.verdict}"),
        element("p", SENTENCES[checked.verdict]),
        names,
        element("p", versions, f", savepoint {checked.savepoint}" if checked.savepoint else "", class_="quiet"),
        element("ul", [element("li", each) for each in pills], class_="counts"),
    )
    return element("div", verdict_sign(checked.verdict), text, class_=f"banner {TONES[checked.verdict]}")


def _steps(checked: Checked) -> Markup:
    steps = [
        element("li", element("p", each.text), [element("pre", element("code", one)) for one in each.commands])
        for each in next_steps(checked)
    ]
    return element("ol", steps, class_="steps")


def _fates(checked: Checked, merged: MergedGraph) -> Markup:
    names = ["fate", "operator", "state", *(["rows", "bytes"] if checked.saved else []), "reason"]
    rows = []
    for each in sorted(checked.comparison.judgements, key=urgency):
        size = checked.size(each)
        sizes = [f"{number:,}" for number in size] if size else ["", ""]
        rows.append(
            [
                fate_pill(each),
                _operator(each.uid, merged),
                code(each.state),
                *(element("span", one, class_="figure") for one in (sizes if checked.saved else [])),
                each.reason,
            ]
        )
    notes = [element("li", each) for each in checked.comparison.remarks]
    table = _table(names, rows) if rows else element("p", "Neither plan keeps any state.")
    return joined(table, element("ul", notes, class_="notes") if notes else None)


def _states(found: Sequence[StateMeaning], merged: MergedGraph) -> Markup:
    names = ["operator", "state", "columns", "TTL", "depends on"]
    rows: list[list[Part]] = []
    for each in found:
        columns = [
            element("li", code(column.name), f" {column.type}: {shown(column.meaning)}") for column in each.columns
        ]
        parts = [element("li", f"{label}: {shown(term)}") for label, term in each.parts.items()]
        ttl = "" if each.name == POSITION else f"{each.ttl_ms} ms" if each.ttl_ms else "none"
        rows.append(
            [
                _operator(each.uid, merged),
                code(each.name),
                element("ul", columns),
                ttl,
                element("ul", parts) if parts else each.unknown,
            ]
        )
    return _table(names, rows) if rows else element("p", "The plan keeps no state.")


def _table(names: Sequence[str], rows: Iterable[Sequence[Part]]) -> Markup:
    """A table; narrow windows show each row as a card, with the names of columns before the values."""
    figures = ("rows", "bytes")
    head = element("tr", *(element("th", name, scope="col", class_=name in figures and "figures") for name in names))
    body = [
        element("tr", *(element("td", part, data_name=name) for name, part in zip(names, row, strict=True)))
        for row in rows
    ]
    table = element("table", element("thead", head), element("tbody", body), class_="cards")
    return element("div", table, class_="wide")


def _operator(uid: str, merged: MergedGraph) -> Markup:
    box = _box_of(uid, merged)
    return element("a", code(uid), href=f"#box-{box.key}") if box is not None else code(uid)


def _box_of(uid: str, merged: MergedGraph) -> Box | None:
    """The box of an operator; that of a source has its uid from the table, so the number before it decides."""
    own = next((each for each in merged.boxes if uid in each.difference.uids), None)
    number = uid.partition("_")[0]
    return own or next((each for each in merged.boxes if each.key == number), None)


def _fates_by_box(merged: MergedGraph, judgements: Iterable[Judgement]) -> Mapping[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for each in judgements:
        box = _box_of(each.uid, merged)
        if box is not None:
            found.setdefault(box.key, []).append(each)
    return found


def _summary(merged: MergedGraph) -> Markup:
    parts = [element("p", merged.difference.summary.capitalize() + ".")]
    if merged.difference.header:
        parts.append(changes_table(merged.difference.header))
    return joined(parts)


def _graph(merged: MergedGraph, fates: Mapping[str, Sequence[Judgement]]) -> Markup:
    buttons = [
        element("button", sign, type="button", data_zoom=what, title=title, aria_label=title)
        for sign, what, title in (("−", "out", "Smaller"), ("+", "in", "Larger"), ("⤢", "fit", "Fit to the page"))
    ]
    hint = element("p", "Rows flow along the arrows. A box leads to what is known of its node.", class_="quiet")
    bar = element("div", hint, element("div", buttons, class_="zoom", hidden=True), class_="toolbar")
    legend = element("p", pill("+", "added", "good"), " only in the new plan ", pill("-", "removed", "bad"),
                     " only in the old one, drawn with broken lines ", pill("~", "changed", "warn"),
                     " in both, with other properties", class_="legend") if merged.difference else None  # fmt: skip
    return joined(bar, graph_svg(merged, fates), legend)
