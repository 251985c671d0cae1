"""What every node module keeps to: order, operators, states, options."""

import ast
import re
from collections.abc import Callable

import pytest

from execnodes.common.batch import BatchNode
from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode
from execnodes.core.options import OPTIONS, find
from execnodes.core.registry import lookup
from tests.completeness.tree import KEYS, node_class, own_files, texts

_METHODS_LAST = ("upgrade", "upgrade_state")


def is_stateful(key: NodeKey) -> bool:
    return lookup(key).uids is not ExecNode.uids


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_operators_have_lower_case_names(key: NodeKey) -> None:
    (metadata,) = (each for each in lookup(key).METADATA if each.key == key)
    assert metadata.produced_operators
    for name in metadata.produced_operators:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name), name


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_consumed_options_exist(key: NodeKey) -> None:
    (metadata,) = (each for each in lookup(key).METADATA if each.key == key)
    assert {find(option).key for option in metadata.consumed_options} <= set(OPTIONS)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_options_are_read_by_the_version_that_stores_them(key: NodeKey) -> None:
    written = {text for path in own_files(key) for text in texts(path)}
    # Keys of every other kind are looked up by name in the version's own files.
    read = {text for text in written if text.startswith(("table.", "execution.", "pipeline."))}
    assert read <= {option for served in lookup(key).METADATA for option in served.consumed_options}


@pytest.mark.parametrize("key", [key for key in KEYS if is_stateful(key)], ids=str)
def test_stateful_nodes_name_their_states_and_their_uids(key: NodeKey) -> None:
    (metadata,) = (each for each in lookup(key).METADATA if each.key == key)
    assert "table.exec.uid.format" in metadata.consumed_options
    names = [text for path in own_files(key) for text in texts(path) if re.fullmatch(r"[a-z][A-Za-z]*State", text)]
    assert names, "no state is named: the name of a state is a text that ends in State"


@pytest.mark.parametrize("key", [key for key in KEYS if is_stateful(key)], ids=str)
def test_stateful_nodes_say_what_their_state_means(key: NodeKey) -> None:
    cls = lookup(key)
    assert cls.meaning is not ExecNode.meaning
    assert cls.state_meanings is not ExecNode.state_meanings


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_fields_come_first_and_upgrades_last(key: NodeKey) -> None:
    _, definition = node_class(key)
    methods = [each.name for each in definition.body if isinstance(each, ast.FunctionDef)]
    kinds = ["field" if isinstance(each, ast.AnnAssign) else "method" for each in definition.body if _counts(each)]
    assert kinds == sorted(kinds), "fields stand before methods"
    last = [name for name in methods if name in _METHODS_LAST]
    assert methods[len(methods) - len(last) :] == last


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_version_says_what_becomes_of_the_one_before(key: NodeKey) -> None:
    """But where one class serves both, whose properties are the same then."""
    cls = lookup(key)
    served = [each.key for each in cls.METADATA]
    assert key.version == 1 or "upgrade" in vars(cls) or NodeKey(key.name, key.version - 1) in served


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_class_that_serves_several_versions_never_asks_which(key: NodeKey) -> None:
    """A version is a class of its own as soon as it acts in another way."""
    _, definition = node_class(key)
    asked = [each.attr for each in ast.walk(definition) if isinstance(each, ast.Attribute)]
    assert len(lookup(key).METADATA) == 1 or not {"version", "key"} & set(asked)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_node_lowers(key: NodeKey) -> None:
    cls = lookup(key)
    lower: Callable[..., object] = cls.lower
    if key.name.startswith("batch-"):
        assert issubclass(cls, BatchNode)
        lower = cls.lower_batch
    # Its own, or that of an earlier version.
    assert lower.__module__.rpartition(".")[0] == key.module.rpartition(".")[0]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_no_field_hides_one_of_every_node(key: NodeKey) -> None:
    own = set(vars(lookup(key)).get("__annotations__", {}))
    assert not own & set(ExecNode.model_fields)


def _counts(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign | ast.FunctionDef)
