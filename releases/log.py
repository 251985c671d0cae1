"""`execnodes/RELEASES.md` as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOG = Path(__file__).parents[1] / "execnodes" / "RELEASES.md"
_NODE = re.compile(
    r"- `(?P<key>(?:stream|batch)-exec-[a-z-]+_\d+)` "
    r"(?:(?P<new>new) \(plan (?P<plan>[\d.]+), state (?P<state>[\d.]+)\)|(?P<dropped>dropped))(?:: (?P<why>.+))?"
)


@dataclass(frozen=True)
class NodeLine:
    """A node version has come or gone."""

    release: str
    key: str
    new: bool
    plan: str = ""
    """First release that writes its JSON; of new ones."""
    state: str = ""
    """First release that writes its state; of new ones."""
    why: str = ""


def sections(text: str) -> dict[str, list[str]]:
    """Release to its lines, in the order of the file; ValueError for a line that is none of a change."""
    found: dict[str, list[str]] = {}
    _, *parts = re.split(r"^## (\S+)\n", text, flags=re.MULTILINE)
    for release, body in zip(parts[::2], parts[1::2], strict=True):
        found[release] = [line for line in body.splitlines() if line]
        odd = [line for line in found[release] if not line.startswith("- ")]
        if odd or release in parts[: parts.index(release)]:
            raise ValueError(f"release {release}: one line a change, each beginning with '- ': {odd}")
    return found


def node_lines(text: str) -> Iterator[NodeLine]:
    """The lines that tell of node versions; ValueError for one that tries to."""
    for release, lines in sections(text).items():
        for line in lines:
            match = _NODE.fullmatch(line)
            if match is not None:
                key, plan, state, why = (match[name] or "" for name in ("key", "plan", "state", "why"))
                yield NodeLine(release, key, match["new"] is not None, plan, state, why)
            elif re.match(r"- `(stream|batch)-exec-", line):
                raise ValueError(f"release {release}: a node version is 'new (plan X, state Y)' or 'dropped': {line}")
