"""Writes the tables of docs/upgrading.md from rules, nodes and releases: ``python -m docs.upgrading_page``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from functools import cache
from itertools import groupby
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.version import Version

from docs.markers import between_markers
from execnodes.core.meaning import StateMeaning
from execnodes.core.version import ENGINE_VERSION, OLDEST_READABLE, RELEASE, version_tuple
from execnodes.intended_changes import INTENDED_CHANGES
from plans.compatibility.plan_meanings import POSITION, meanings
from rekindle.testing.restore_fixtures import stored
from releases import releases
from releases.log import LOG, node_lines
from tests.restore.program import programs

PAGE = Path(__file__).with_name("upgrading.md")
RULES = Path(__file__).with_name("upgrading.toml")
_NUMBER = re.compile(r"\d+$")
_STATES = ("Operator", "States", "All rows depend on", "A column more")
_CHANGES = ("Since", "Change", "What", "Before", "Now", "Why", "Shown by")


@dataclass(frozen=True)
class Rule:
    """What one does, what comes of it, and the tests that say so."""

    section: str
    change: str
    outcome: str
    tests: tuple[str, ...]


@cache
def rules() -> tuple[Rule, ...]:
    """All there are, in the order of the file."""
    found = tomllib.loads(RULES.read_text(encoding="utf-8"))["rule"]
    return tuple(Rule(**{**each, "tests": tuple(each["tests"])}) for each in found)


def inserted(page: str) -> str:
    """The page with every table between its markers; ValueError if it lacks one."""
    for section, found in groupby(rules(), lambda rule: rule.section):
        page = between_markers(page, section, _table("What you do", "What happens", "Tests", rows=map(_rule, found)))
    page = between_markers(page, "states", _table(*_STATES, rows=_states()))
    page = between_markers(page, "intended changes", _table(*_CHANGES, rows=_changes()))
    engines = _engines()
    page = between_markers(
        page, "engines", _table("Made by", *(f"run by {each}" for each in engines), rows=_reads(engines))
    )
    return between_markers(page, "requirements", _table("Release", "PySpark", "Node versions dropped", rows=_needs()))


def _table(*head: str, rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(each)} |\n" for each in lines)


def _rule(rule: Rule) -> tuple[str, ...]:
    files = dict.fromkeys(each.partition("::")[0] for each in rule.tests)
    return rule.change, rule.outcome, ", ".join(f"[{Path(each).stem}](../{each})" for each in files)


def _states() -> Iterator[tuple[str, ...]]:
    """Every state of the restore programs' plans, which have those of all node versions."""
    found: dict[str, list[StateMeaning]] = {}
    for program in programs():
        for meant in meanings(stored(program.fixture)).by_node.values():
            if meant.node.uids():
                found.setdefault(str(meant.node.key), []).extend(s for s in meant.states if s.name != POSITION)
    for node, states in sorted(found.items()):
        names = dict.fromkeys(_NUMBER.sub("N", state.name) for state in states)
        parts = dict.fromkeys(part for state in states for part in state.parts if part != "operator")
        added = "starts empty" if any(state.addable is not None for state in states) else "the state starts anew"
        yield f"`{node}`", ", ".join(f"`{each}`" for each in names), ", ".join(parts), added


def _changes() -> Iterator[tuple[str, ...]]:
    for each in INTENDED_CHANGES:
        component = f"`{each.component}`" if " " not in each.component else each.component
        shown = f"[{Path(each.program.partition('::')[0]).stem}](../{each.program.partition('::')[0]})"
        cells = (each.since, f"`{each.id}`", component, each.before, each.now, each.reason, shown)
        yield tuple(cell.replace("|", "\\|") for cell in cells)


def _engines() -> tuple[str, ...]:
    """Engine versions of the releases, and of these sources."""
    return tuple(dict.fromkeys([*(each.engine_version for each in releases()), ENGINE_VERSION]))


def _reads(engines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Which engines run plans and savepoints of which; the oldest that is read has never changed."""
    for made in engines:
        known = version_tuple(made) >= version_tuple(OLDEST_READABLE)
        yield made, *("yes" if known and version_tuple(made) <= version_tuple(each) else "refused" for each in engines)


def _needs() -> Iterator[tuple[str, ...]]:
    """What each release and these sources are installed with."""
    lines = tuple(node_lines(LOG.read_text(encoding="utf-8")))
    project = tomllib.loads((RULES.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = {each.version: _metadata(each.path) for each in releases()}
    for release, found in {**needs, Version(RELEASE).base_version: project["dependencies"]}.items():
        dropped = [f"`{line.key}`" for line in lines if line.release == release and not line.new]
        (pyspark,) = (each for each in map(Requirement, found) if each.name == "pyspark")
        yield release, ", ".join(sorted(map(str, pyspark.specifier), reverse=True)), ", ".join(dropped) or "none"


def _metadata(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name)).get_all("Requires-Dist", [])


if __name__ == "__main__":
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
