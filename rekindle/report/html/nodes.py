"""What is known of each node, to be opened below the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from execnodes.core.graph import ExecGraph
from plans.compatibility.compare import Judgement
from plans.evolution.diff import Change, Standing
from plans.evolution.merge import Box, MergedGraph
from rekindle.report.html.element import Markup, Part, element, joined
from rekindle.report.html.graph import Fates, short, title_of
from rekindle.report.html.pills import fate_pill, standing_pill
from rekindle.report.texts import twin_text

_LONGEST = 600
"""Letters of a value; types of wide rows have thousands."""


def node_list(merged: MergedGraph, fates: Fates, before: ExecGraph, after: ExecGraph) -> Markup:
    """One part a node; those that have changed are open."""
    items = []
    for box in merged.boxes:
        inputs = after.inputs[box.node.id] if box.difference.new is not None else before.inputs[box.node.id]
        items.append(_node(box, inputs, fates.get(box.key, ())))
    return element("div", items, class_="nodes")


def _node(box: Box, inputs: Sequence[int], judgements: Sequence[Judgement]) -> Markup:
    kind, _ = title_of(box)
    pills: list[Part] = [standing_pill(box.standing)] if box.standing is not Standing.SAME else []
    pills += dict.fromkeys(map(fate_pill, judgements))
    head = element(
        "summary",
        element("span", str(box.node.id), class_="id"),
        element("span", kind, class_="kind"),
        element("span", pills, class_="pills"),
    )
    facts = element("dl", [joined(element("dt", name), element("dd", part)) for name, part in _facts(box, inputs)])
    changes = changes_table(box.difference.changes) if box.difference.changes else None
    to_graph = element("a", "Show in the graph", href=f"#box-{box.key}")
    body = element("div", facts, changes, element("p", to_graph), id=f"node-{box.key}", class_="facts", tabindex="-1")
    return element("details", head, body, open=box.standing is not Standing.SAME)


def changes_table(changes: Iterable[Change]) -> Markup:
    """Place, old and new value of each change."""
    rows = []
    for each in changes:
        values = [element("td", "nothing" if one is None else code(one)) for one in (each.old, each.new)]
        rows.append(element("tr", element("th", code(each.path), scope="row"), values))
    head = element("tr", *(element("th", name, scope="col") for name in ("property", "before", "after")))
    return element("div", element("table", element("thead", head), element("tbody", rows)), class_="wide")


def code(text: str) -> Markup:
    """Text as it stands in a file; long ones are cut."""
    return element("code", short(text, _LONGEST))


def _facts(box: Box, inputs: Sequence[int]) -> Iterator[tuple[str, Part]]:
    node = box.node
    yield "Type", code(str(node.key))
    yield "Does", code(node.description)
    if box.difference.twin is not None:
        yield "Same as", twin_text(box.difference)
    for uid in box.difference.uids:
        states = [f"{each.name} (TTL {each.ttl})" for each in node.state]
        yield "Operator", joined(code(uid), f": {', '.join(states)}" if states else "")
    yield "Changes", " ".join(each.short for each in sorted(node.changelog_mode))
    if inputs:
        yield "Inputs", ", ".join(map(str, inputs))
    yield "Rows", code(str(node.output_type))
