"""The key of a node version is its path, and the folder says which versions there are."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from execnodes.core.metadata import NodeKey
from execnodes.core.registry import lookup, newest
from execnodes.core.version import version_tuple
from tests.completeness.tree import KEYS, ROOT, imports, module_name, node_file, sources, texts, tree


def _of_a_node(path: Path) -> bool:
    # The list of intended changes says which released version has changed.
    if path in (ROOT / "execnodes" / "intended_changes.py", ROOT / "execnodes" / "concerned_nodes.py"):
        return True
    return path.is_relative_to(ROOT / "execnodes" / "stream") or path.is_relative_to(ROOT / "execnodes" / "batch")


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_the_key_is_the_path(key: NodeKey) -> None:
    cls = lookup(key)
    served = [each.key for each in cls.METADATA]
    assert key in served
    # A class that serves several versions stands in the module of the newest.
    assert cls.__module__ == max(served).module
    name = key.name.partition("-exec-")[2]
    assert cls.__name__.removeprefix("Batch") == "".join(part.capitalize() for part in name.split("-"))


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_the_module_says_its_version(key: NodeKey) -> None:
    docstring = importlib.import_module(key.module).__doc__ or ""
    assert re.match(rf"Version {key.version} \([0-9.]+\)", docstring), docstring


@pytest.mark.parametrize("name", sorted({key.name for key in KEYS}))
def test_the_folder_names_its_versions_and_exports_the_newest(name: str) -> None:
    versions = [key for key in KEYS if key.name == name]
    package = importlib.import_module(versions[-1].module.rpartition(".")[0])
    docstring = package.__doc__ or ""
    assert docstring.startswith(f"{name}: ")
    for key in versions:
        assert re.search(rf"\b{key.version} \(since [0-9.]+\)", docstring), docstring
    assert newest(name) in vars(package).values()


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_newer_versions_import_older_ones_never_the_reverse(key: NodeKey) -> None:
    package, _, _ = key.module.rpartition(".")
    # A version that a newer class serves only says so.
    newest = max(each.key for each in lookup(key).METADATA)
    for name in imports(node_file(key)):
        match = re.fullmatch(rf"{re.escape(package)}\.v(\d+)(_\w+)?", name)
        assert match is None or int(match[1]) <= newest.version, name
        # Other nodes are mechanics that could change under a released version.
        other = re.match(r"(execnodes\.(?:stream|batch)\.\w+)", name)
        assert other is None or other[1] == package, name


@pytest.mark.parametrize("path", [each for each in sources() if not _of_a_node(each)], ids=module_name)
def test_nobody_else_names_a_node_or_a_version(path: Path) -> None:
    """Who wants to know something of a node asks it, so that the next version and the next node are asked, too."""
    named = [text for text in texts(path) if re.fullmatch(r"(stream|batch)-exec-[a-z-]+(_\d+)?", text)]
    versions = [name for name in imports(path) if re.match(r"execnodes\.(stream|batch)\.\w+\.v\d", name)]
    assert not named + versions


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_releases_are_releases(key: NodeKey) -> None:
    metadata = next(each for each in lookup(key).METADATA if each.key == key)
    assert version_tuple(metadata.min_state_version)
    assert version_tuple(metadata.min_plan_version)


def test_every_annotated_class_is_found() -> None:
    written = {module_name(path) for path in sources("execnodes") if any(map(_is_node, tree(path).body))}
    assert written == {lookup(key).__module__ for key in KEYS}


def _is_node(statement: ast.stmt) -> bool:
    decorators = statement.decorator_list if isinstance(statement, ast.ClassDef) else []
    return any("exec_node_metadata" in ast.dump(each) for each in decorators)
