"""Every option of every node, with texts that would say more than a value: refused when the plan is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.metadata import NodeKey
from execnodes.core.options import OPTIONS, find
from execnodes.core.registry import UnknownNodeError, lookup
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from tests.completeness.tree import KEYS
from tests.fuzz.plans import TEXTS
from tests.user_functions import examples

PLANS = (Path(__file__).parents[1] / "restore" / "fixtures", Path(__file__).with_name("goldens"))
PAIRS = [
    (key, option)
    for key in KEYS
    for metadata in lookup(key).METADATA
    if metadata.key == key
    for option in metadata.consumed_options
]


def _calling_python() -> Iterator[tuple[str, Any]]:
    """Plans of batch mode, of which there are neither fixtures nor goldens."""
    made = TableEnvironment.create({"execution.runtime-mode": "batch"})
    for name in ("shout", "asked", "words"):
        made.create_temporary_function(name, getattr(examples, name))
    rows = "(VALUES ('a', 1)) AS v (s, n)"
    for query in (
        f"SELECT shout(s) FROM {rows}",
        f"SELECT asked(n) FROM {rows}",
        f"SELECT w FROM {rows}, LATERAL TABLE(words(s)) AS r (w, l)",
    ):
        document = json.loads(made.compile_plan_sql(query).as_json_string())
        yield from ((each["type"], document) for each in document["nodes"])


def _of_version_1(document: Any) -> Any:
    """A plan of batch mode with OVER or UNNEST, as releases up to 1.3 made it."""
    old = json.loads(json.dumps(document))
    for node in old["nodes"]:
        if node["type"] == "batch-exec-over-aggregate_2":
            node["type"] = "batch-exec-over-aggregate_1"
            node.pop("following", None)
            for call in node["calls"]:
                call.pop("options", None)
        if node["type"] == "batch-exec-correlate_2":
            node["type"] = "batch-exec-correlate_1"
            node.pop("condition", None)
    return old


@cache
def plans() -> dict[str, Any]:
    """A plan with the node, for each type."""
    found: dict[str, Any] = dict(_calling_python())
    for path in sorted(path for folder in PLANS for path in folder.rglob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        lacking = {each["type"] for each in document.get("nodes", ())} - set(found)
        if lacking:
            with suppress(UnknownNodeError):  # a plan that has to be migrated first
                load(json.dumps(document))
                found |= dict.fromkeys(lacking, document)
    for key in ("batch-exec-over-aggregate", "batch-exec-correlate"):
        found[f"{key}_1"] = _of_version_1(found[f"{key}_2"])
    return found


@pytest.mark.parametrize(("key", "option"), PAIRS, ids=str)
def test_a_hostile_value(key: NodeKey, option: str) -> None:
    document = json.loads(json.dumps(plans()[str(key)]))
    node = next(each for each in document["nodes"] if each["type"] == str(key))
    for text in TEXTS:
        node["configuration"] = {**node.get("configuration", {}), option: text}
        with pytest.raises(PlanError) as raised:
            load(json.dumps(document))
        assert option in str(raised.value) or find(option).key in str(raised.value)


def test_there_are_options() -> None:
    assert {find(option).key for _, option in PAIRS} <= set(OPTIONS)
    assert len(PAIRS) > len(KEYS) / 2
