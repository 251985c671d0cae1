"""Places for the boxes of a graph: ranks from sources to sinks, few crossings, edges as straight as can be.

Ranks by longest path, order by barycentres, places by least squares; connected parts lie side by side. Ranks are rows
from top to bottom, or columns from left to right where that fits a page better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
Edge = tuple[str, str]
BOX_WIDTH, BOX_HEIGHT = 288.0, 76.0
_PAGE = 1150.0
"""Pixels that a page shows beside each other."""
_SWEEPS = 24
_MARGIN = 16.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Pixels; the origin is at the upper left."""

    corners: Mapping[str, Point]
    """Upper left corner of each box."""
    routes: Mapping[Edge, tuple[Point, ...]]
    """From one box to another; after the first one, every second piece passes a rank and is straight."""
    width: float
    height: float
    sideways: bool = False
    """Ranks are columns."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Along a rank, and from rank to rank."""

    breadth: float
    depth: float
    gap: float
    rank_gap: float
    lane: float = 14.0
    """Breadth of an edge that passes a rank."""


_ROWS = _Sizes(BOX_WIDTH, BOX_HEIGHT, 28.0, 44.0)
_COLUMNS = _Sizes(BOX_HEIGHT, BOX_WIDTH, 22.0, 72.0)


def layout(keys: Sequence[str], edges: Sequence[Edge]) -> Drawing:
    """Lay out a graph; cycles are taken, one edge of each then runs backwards."""
    parts = [(part, [each for each in edges if each[0] in part]) for part in _parts(keys, edges)]
    rows = _packed([_Part(*each, _ROWS).laid_out() for each in parts])
    if rows.width <= 1.5 * _PAGE:
        return rows
    columns = _packed([_turned(_Part(*each, _COLUMNS).laid_out()) for each in parts])
    return columns if columns.width * 1.5 < rows.width else rows


def _turned(found: Drawing) -> Drawing:
    corners = {key: (y, x) for key, (x, y) in found.corners.items()}
    routes = {edge: tuple((y, x) for x, y in route) for edge, route in found.routes.items()}
    return Drawing(corners, routes, found.height, found.width, sideways=True)


def _parts(keys: Sequence[str], edges: Iterable[Edge]) -> list[dict[str, None]]:
    """Connected parts, each in the order of `keys`."""
    near: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        near[source].append(target)
        near[target].append(source)
    number: dict[str, int] = {}
    for at, key in enumerate(keys):
        waiting = [key] if key not in number else []
        while waiting:
            each = waiting.pop()
            if each not in number:
                number[each] = at
                waiting += near[each]
    parts: dict[int, dict[str, None]] = defaultdict(dict)
    for key in keys:
        parts[number[key]][key] = None
    return list(parts.values())


class _Part:
    """One connected part on its way to a layout: items are boxes, and lanes where edges pass a row."""

    def __init__(self, keys: Iterable[str], edges: Sequence[Edge], sizes: _Sizes) -> None:
        self.sizes = sizes
        self.keys = list(keys)
        self.edges = edges
        ranks = _ranks(self.keys, edges)
        self.rows: list[list[str]] = [[] for _ in range(max(ranks.values()) + 1)]
        for key in self.keys:
            self.rows[ranks[key]].append(key)
        self.chains = {each: self._chain(each, ranks) for each in edges}
        self.up: dict[str, list[str]] = defaultdict(list)
        self.down: dict[str, list[str]] = defaultdict(list)
        for chain in self.chains.values():
            for one, other in pairwise(chain):
                self.down[one].append(other)
                self.up[other].append(one)
        self.boxes = set(self.keys)

    def _chain(self, edge: Edge, ranks: Mapping[str, int]) -> list[str]:
        source, target = edge
        lanes = [f"{source}>{target}@{rank}" for rank in range(ranks[source] + 1, ranks[target])]
        for rank, lane in enumerate(lanes, ranks[source] + 1):
            self.rows[rank].append(lane)
        return [source, *lanes, target]

    def laid_out(self) -> Drawing:
        """As if ranks were rows."""
        self._order()
        places = self._places()
        step = self.sizes.depth + self.sizes.rank_gap
        left = min(x - self._breadth(key) / 2 for key, x in places.items())
        middles = {key: (places[key] - left, at * step) for at, row in enumerate(self.rows) for key in row}
        corners = {key: (middles[key][0] - self.sizes.breadth / 2, middles[key][1]) for key in self.keys}
        routes = {edge: self._route(edge, middles) for edge in self.edges}
        width = max(x + self._breadth(key) / 2 for key, (x, _) in middles.items())
        return Drawing(corners, routes, width, len(self.rows) * step - self.sizes.rank_gap)

    def _breadth(self, key: str) -> float:
        return self.sizes.breadth if key in self.boxes else self.sizes.lane

    def _order(self) -> None:
        """Sort rows by the mean place of neighbours, down and up; keep the order with the fewest crossings."""
        best, fewest = [list(row) for row in self.rows], self._crossings()
        for sweep in range(_SWEEPS):
            near = self.up if sweep % 2 == 0 else self.down
            for at in range(len(self.rows)) if sweep % 2 == 0 else reversed(range(len(self.rows))):
                other = at - 1 if sweep % 2 == 0 else at + 1
                if 0 <= other < len(self.rows):
                    self._sort(at, {key: place for place, key in enumerate(self.rows[other])}, near)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def _sort(self, at: int, places: Mapping[str, int], near: Mapping[str, list[str]]) -> None:
        row = self.rows[at]
        wanted = {}
        for place, key in enumerate(row):
            known = [places[each] for each in near.get(key, ()) if each in places]
            wanted[key] = sum(known) / len(known) if known else float(place)
        row.sort(key=wanted.__getitem__)

    def _crossings(self) -> int:
        count = 0
        for upper, lower in pairwise(self.rows):
            places = {key: place for place, key in enumerate(lower)}
            ends = [sorted(places[each] for each in self.down[key] if each in places) for key in upper]
            seen: list[int] = []
            for targets in ends:
                count += sum(sum(other > target for other in seen) for target in targets)
                seen += targets
        return count

    def _places(self) -> dict[str, float]:
        """Middles of items: near those of their neighbours, never nearer to each other than they may be."""
        places: dict[str, float] = {}
        for row in self.rows:
            for key, x in zip(row, self._spaced(row, [0.0] * len(row)), strict=True):
                places[key] = x
        for sweep in range(_SWEEPS):
            # First by all neighbours, then by those of one side in turn, which makes chains straight.
            near = [self.up, self.down] if sweep < _SWEEPS // 4 else [(self.up, self.down)[sweep % 2]]
            for row in self.rows if sweep % 2 == 0 else self.rows[::-1]:
                wanted = []
                for key in row:
                    there = [places[each] for side in near for each in side[key]]
                    wanted.append(sum(there) / len(there) if there else places[key])
                places |= zip(row, self._spaced(row, wanted), strict=True)
        return places

    def _spaced(self, row: Sequence[str], wanted: Sequence[float]) -> list[float]:
        """The places nearest to `wanted` (least squares) that keep the order and the gaps."""
        widths = [self._breadth(key) for key in row]
        offsets = [0.0]
        for one, other in pairwise(widths):
            offsets.append(offsets[-1] + (one + other) / 2 + self.sizes.gap)
        # Pool adjacent violators: blocks of (sum, weight, items) whose means rise.
        blocks: list[list[float]] = []
        for key, place, offset in zip(row, wanted, offsets, strict=False):
            weight = 1.0 if key in self.boxes else 3.0
            blocks.append([(place - offset) * weight, weight, 1])
            while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
                last = blocks.pop()
                blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
        means = [total / weight for total, weight, count in blocks for _ in range(int(count))]
        return [mean + offset for mean, offset in zip(means, offsets, strict=False)]

    def _route(self, edge: Edge, middles: Mapping[str, Point]) -> tuple[Point, ...]:
        source, *lanes, target = self.chains[edge]
        start = self._port(source, lanes[0] if lanes else target, self.down, middles)
        points = [(start, middles[source][1] + self.sizes.depth)]
        for lane in lanes:
            x, y = middles[lane]
            points += [(x, y), (x, y + self.sizes.depth)]
        points.append((self._port(target, lanes[-1] if lanes else source, self.up, middles), middles[target][1]))
        return tuple(points)

    def _port(self, key: str, other: str, near: Mapping[str, list[str]], middles: Mapping[str, Point]) -> float:
        """Where an edge meets its box: edges lie beside each other in the order of their other ends."""
        ends = sorted(near[key], key=lambda each: middles[each][0])
        step = min(48.0, self.sizes.breadth / (len(ends) + 1))
        return middles[key][0] + (ends.index(other) - (len(ends) - 1) / 2) * step


def _ranks(keys: Sequence[str], edges: Iterable[Edge]) -> dict[str, int]:
    """Row of each box: below all its inputs, and as near to what it feeds as can be."""
    above: dict[str, list[str]] = {key: [] for key in keys}
    below: dict[str, list[str]] = {key: [] for key in keys}
    for source, target in edges:
        above[target].append(source)
        below[source].append(target)
    ranks: dict[str, int] = {}
    left = list(keys)
    while left:
        # In a cycle no box has all its inputs placed: the first one is taken as it is.
        key = next((each for each in left if all(one in ranks for one in above[each])), left[0])
        left.remove(key)
        ranks[key] = max((ranks[one] + 1 for one in above[key] if one in ranks), default=0)
    for key in reversed(list(ranks)):
        nearest = min((ranks[each] for each in below[key]), default=0)
        ranks[key] = max(ranks[key], nearest - 1)
    return ranks


def _packed(parts: Sequence[Drawing]) -> Drawing:
    """Parts in shelves, in order."""
    widest = max([_PAGE, *(each.width for each in parts)])
    corners: dict[str, Point] = {}
    routes: dict[Edge, tuple[Point, ...]] = {}
    x = y = _MARGIN
    width = shelf = 0.0
    for part in parts:
        if x > _MARGIN and x + part.width > widest + _MARGIN:
            x, y, shelf = _MARGIN, y + shelf + 2 * _MARGIN, 0.0
        corners |= {key: (x + dx, y + dy) for key, (dx, dy) in part.corners.items()}
        routes |= {edge: tuple((x + dx, y + dy) for dx, dy in route) for edge, route in part.routes.items()}
        width, shelf = max(width, x + part.width), max(shelf, part.height)
        x += part.width + 3 * _MARGIN
    return Drawing(corners, routes, width + _MARGIN, y + shelf + _MARGIN, any(each.sideways for each in parts))
