"""The merged graph as SVG: boxes are links to what is known of their nodes, so it needs no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plans.compatibility.compare import Fate, Judgement
from plans.evolution.diff import Standing
from plans.evolution.merge import Box, MergedGraph
from rekindle.report.graph_layout import BOX_HEIGHT, BOX_WIDTH, Point, layout
from rekindle.report.html.element import Markup, element, joined
from rekindle.report.html.pills import TONES
from rekindle.report.signs import FATES, STANDINGS, tone

Fates = Mapping[str, Sequence[Judgement]]
"""Key of a box to the fates of its states."""
_TONES = ("bad", "odd", "warn", "good")
_FATES = (Fate.INCOMPATIBLE, Fate.DROP, Fate.EMPTY, Fate.CONVERT, Fate.KEEP)
_LETTERS = 37
"""That go into a line of a box."""


def graph_svg(merged: MergedGraph, fates: Fates) -> Markup:
    """The drawing in a frame that scrolls."""
    ends = [(each.source, each.target) for each in merged.edges]
    found = layout([each.key for each in merged.boxes], ends)
    edges = [_edge(found.routes[each.source, each.target], each.standing, found.sideways) for each in merged.edges]
    boxes = [_box(each, found.corners[each.key], fates.get(each.key, ())) for each in merged.boxes]
    drawing = element(
        "svg", _markers(), edges, boxes, xmlns="http://www.w3.org/2000/svg", role="group", aria_label="Graph of nodes",
        viewBox=f"0 0 {found.width:g} {found.height:g}", width=round(found.width), height=round(found.height),
    )  # fmt: skip
    return element("div", drawing, class_="canvas", id="canvas", tabindex="0", role="region", aria_label="Graph")


def urgency(judgement: Judgement) -> tuple[int, int]:
    """To sort by: what people must look at comes first."""
    return _TONES.index(tone(judgement)), _FATES.index(judgement.fate)


def short(text: str, letters: int = _LETTERS) -> str:
    """The beginning of a text."""
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def title_of(box: Box) -> tuple[str, str]:
    """What the node is, and what it does, of its description."""
    kind, _, rest = box.node.description.partition("(")
    for default in ("default_catalog, default_database, ", "default_catalog.default_database."):
        rest = rest.replace(default, "")
    return kind, rest.removesuffix(")")


def _box(box: Box, corner: Point, judgements: Sequence[Judgement]) -> Markup:
    kind, what = title_of(box)
    worst, standing = min(judgements, key=urgency, default=None), box.standing
    words = []
    if standing is not Standing.SAME:
        words.append((f"{STANDINGS[standing]} {standing}", TONES[standing]))
    if worst is not None:
        words.append((f"{FATES[worst.fate]} {worst.fate}", tone(worst)))
    elif box.node.uids():
        words.append(("◆ state", "plain"))
    modes = " ".join(each.short for each in sorted(box.node.changelog_mode))
    marks, at = [], 16.0
    for word, style in words:
        width = 7.0 * len(word) + 16
        marks.append(element("rect", x=at, y=51.0, width=width, height=18.0, rx=9.0, class_=f"tag {style}"))
        marks.append(_line(word, at + width / 2, 64, f"tagged {style}", anchor="middle"))
        at += width + 6
    inside = joined(
        element("title", f"node {box.node.id}: {box.node.description}"),
        element("rect", width=BOX_WIDTH, height=BOX_HEIGHT, rx=8.0, class_="card"),
        element("rect", x=1.5, y=8.0, width=4.0, height=BOX_HEIGHT - 16, rx=2.0, class_="bar"),
        _line(short(kind, 30), 16, 21, "kind"),
        _line(str(box.node.id), BOX_WIDTH - 12, 21, "id", anchor="end"),
        _line(short(what), 16, 40, "what"),
        marks,
        _line(modes, BOX_WIDTH - 12, 64, "modes", anchor="end"),
    )
    style = tone(worst) if worst is not None else TONES[standing]
    group = element("g", inside, transform=f"translate({corner[0]:.0f} {corner[1]:.0f})")
    return element("a", group, href=f"#node-{box.key}", id=f"box-{box.key}", class_=f"box {standing} {style}")


def _line(text: str, x: float, y: float, style: str, anchor: str | None = None) -> Markup:
    return element("text", text, x=float(x), y=float(y), class_=style, text_anchor=anchor)


def _edge(route: Sequence[Point], standing: Standing, sideways: bool) -> Markup:
    (x, y), *others = route
    path = [f"M{x:.0f} {y:.0f}"]
    for at, (to_x, to_y) in enumerate(others):
        # Between ranks the edge bends; where it passes one it goes straight on.
        across, down = ((to_x - x) / 2, 0.0) if sideways else (0.0, (to_y - y) / 2)
        curve = f"C{x + across:.0f} {y + down:.0f} {to_x - across:.0f} {to_y - down:.0f} {to_x:.0f} {to_y:.0f}"
        path.append(curve if at % 2 == 0 else f"L{to_x:.0f} {to_y:.0f}")
        x, y = to_x, to_y
    name = standing if standing in (Standing.ADDED, Standing.REMOVED) else "same"
    return element("path", d="".join(path), class_=f"edge {name}", marker_end=f"url(#to-{name})")


def _markers() -> Markup:
    heads = [
        element(
            "marker", element("path", d="M0 0L8 4L0 8z"), id=f"to-{name}", class_=f"head {name}", viewBox="0 0 8 8",
            refX=8, refY=4, markerWidth=8, markerHeight=8, markerUnits="userSpaceOnUse", orient="auto",
        )
        for name in ("same", "added", "removed")
    ]  # fmt: skip
    return element("defs", heads)
