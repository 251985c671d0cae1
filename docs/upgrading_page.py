"""Writes the tables of docs/upgrading.md, from its rules and the nodes: ``python -m docs.upgrading_page``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from docs.markers import between_markers
from execnodes.core.meaning import StateMeaning
from plans.load import load
from plans.meaning import POSITION, meanings
from rekindle.testing.restore_fixtures import PLAN
from tests.restore.program import programs

PAGE = Path(__file__).with_name("upgrading.md")
RULES = Path(__file__).with_name("upgrading.toml")
_NUMBER = re.compile(r"\d+$")
_STATES = ("Operator", "States", "All rows depend on", "A column more")


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
    return between_markers(page, "states", _table(*_STATES, rows=_states()))


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
        path = program.fixture / PLAN
        for meant in meanings(load(path.read_text(encoding="utf-8"), source=str(path))).by_node.values():
            if meant.node.uids():
                found.setdefault(str(meant.node.key), []).extend(s for s in meant.states if s.name != POSITION)
    for node, states in sorted(found.items()):
        names = dict.fromkeys(_NUMBER.sub("N", state.name) for state in states)
        parts = dict.fromkeys(part for state in states for part in state.parts if part != "operator")
        added = "starts empty" if any(state.addable is not None for state in states) else "the state starts anew"
        yield f"`{node}`", ", ".join(f"`{each}`" for each in names), ", ".join(parts), added


if __name__ == "__main__":
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
