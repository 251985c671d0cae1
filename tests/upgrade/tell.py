"""``python -m tests.upgrade.tell FILE``: the plans that one release makes of all conformance programs, and what it says
its states mean; with the code its process finds first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import RekindleError
from execnodes.core.meaning import StateColumn, StateMeaning

if TYPE_CHECKING:
    from rekindle.results.compiled_plan import CompiledPlan

PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
Told = dict[str, Any]
"""``plan``: its text; ``states``: what savepoints of it say."""


def told(plan: CompiledPlan) -> Told:
    """What there is to know of a plan, as JSON values."""
    states = [
        {
            "uid": each.uid,
            "name": each.name,
            "parts": {label: str(term) for label, term in each.parts.items()},
            "columns": [[column.name, column.type, str(column.meaning)] for column in each.columns],
            "bucketed": each.bucketed,
            "ttl_ms": each.ttl_ms,
            "sources": sorted(each.sources),
            "serializers": dict(each.serializers),
        }
        for each in _meanings()(plan.graph)
    ]
    return {"plan": plan.as_json_string(), "states": states}


def _meanings() -> Any:
    """The function `meanings`, wherever the engine that runs this has it: today's, 1.3, those before."""
    for module in ("plans.compatibility.plan_meanings", "plans.compatibility.meaning"):
        try:
            return import_module(module).meanings
        except ModuleNotFoundError:
            continue
    return import_module("plans.meaning").meanings


def states_of(told: Told) -> list[StateMeaning]:
    """The states again, as a savepoint of that release would have them; this engine's code."""
    from execnodes.terms.shown import TEXT
    from execnodes.terms.term import leaf

    return [
        StateMeaning(
            **{
                **each,
                "parts": {label: leaf(TEXT, text) for label, text in each["parts"].items()},
                "columns": tuple(StateColumn(name, t, leaf(TEXT, text)) for name, t, text in each["columns"]),
                "sources": frozenset(each["sources"]),
            }
        )
        for each in told["states"]
    ]


def compiled() -> Iterator[tuple[str, CompiledPlan]]:
    """``area/name`` of every program that can be compiled, and its plan; without code that came after 1.0."""
    # The path of 1.0, which today's code knows, too.
    environment = import_module("rekindle.table_environment").TableEnvironment
    for file in sorted(PROGRAMS.rglob("program.sql")):
        name = file.parent.relative_to(PROGRAMS).as_posix()
        script = file.read_text(encoding="utf-8").replace("${dir}", f"/programs/{name}")
        try:
            yield name, environment.create({}).compile_script(script)
        except RekindleError:
            continue


if __name__ == "__main__":
    plans = {name: told(each) for name, each in compiled()}
    Path(sys.argv[1]).write_text(json.dumps(plans), encoding="utf-8")
