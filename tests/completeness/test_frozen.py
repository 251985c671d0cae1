"""A node version that is out keeps its JSON and its state layout; what must change becomes a new version."""

from __future__ import annotations

import pytest

from execnodes.core.registry import keys
from releases.log import LOG, node_lines
from tests.completeness.frozen import current, merged, shape, stored, stored_terms, terms

ADVICE = (
    "{what} of {key} has changed. Plans and savepoints of a release must stay readable: make a new version of the node "
    "(CONTRIBUTING.md, 'A new version of an operator'), and leave this one as it was."
)


@pytest.mark.parametrize("key", [str(key) for key in keys()])
def test_what_is_out_stays(key: str) -> None:
    assert key in stored(), f"{key} is new: run make goldens"
    then, now = stored()[key], current()[key]
    assert now["json"] == then["json"], ADVICE.format(what="The JSON", key=key)
    assert now["states"].keys() >= then["states"].keys(), f"restore programs of {key} are gone; they must stay"
    for program, layout in then["states"].items():
        assert now["states"][program] == layout, ADVICE.format(what=f"The state layout (in {program})", key=key)
    assert now["states"].keys() == then["states"].keys(), "there are new restore programs: run make goldens"


def test_terms_that_savepoints_keep_stay() -> None:
    """Kinds and roles are compared with those of savepoints; how they are shown is not."""
    then, now = stored_terms(), terms()
    assert len(then) >= 30
    assert now.keys() >= then.keys(), "restore programs are gone; they must stay"
    changed = sorted(program for program, digest in then.items() if now[program] != digest)
    assert changed == [], "a node says otherwise what its states mean: give them the kinds and roles that they had"


def test_versions_are_dropped_in_the_open() -> None:
    """tests/completeness/test_releases.py holds the log to it."""
    dropped = {line.key for line in node_lines(LOG.read_text(encoding="utf-8")) if not line.new}
    assert set(stored()) == {str(key) for key in keys()} | dropped


def test_a_change_of_a_field_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    key = keys()[0]
    before = shape(key)
    from execnodes.core.registry import lookup

    cls = lookup(key)
    schema = cls.model_json_schema(by_alias=True)
    schema["properties"]["more"] = {"type": "integer"}
    monkeypatch.setattr(cls, "model_json_schema", lambda by_alias: schema)
    assert shape(key) != before
    schema["properties"].pop("more")
    schema["description"] = "other words"
    assert shape(key) == before


def test_writing_anew_only_adds() -> None:
    old = {"a_1": {"json": "x", "states": {"p": "1"}}}
    new = {"a_1": {"json": "y", "states": {"p": "2", "q": "3"}}, "b_1": {"json": "z", "states": {}}}
    assert merged(old, new) == {
        "a_1": {"json": "x", "states": {"p": "1", "q": "3"}},
        "b_1": {"json": "z", "states": {}},
    }
