"""Functions: each has one name and version, found by walking their modules."""

import re
from collections import Counter

import pytest

from execnodes.core.aggregates import FUNCTIONS
from execnodes.core.version import ENGINE_VERSION, version_tuple
from execnodes.functions.function import Function
from execnodes.functions.registry import find, functions, newest

ALL = sorted(functions().values(), key=lambda each: (each.name, each.version))


@pytest.mark.parametrize("function", ALL, ids=lambda each: each.internal_name)
def test_a_function_is_found_by_name_and_version(function: Function) -> None:
    assert function.name == function.name.upper().strip()
    assert "$" not in function.name
    assert re.fullmatch(r"\$.+\$[1-9][0-9]*", function.internal_name)
    assert find(function.internal_name) is function
    assert version_tuple(function.since) <= version_tuple(ENGINE_VERSION)


@pytest.mark.parametrize("name", sorted({each.name for each in ALL}))
def test_versions_have_no_gaps_and_never_go_back(name: str) -> None:
    versions = [each for each in ALL if each.name == name]
    assert [each.version for each in versions] == list(range(1, len(versions) + 1))
    releases = [version_tuple(each.since) for each in versions]
    assert releases == sorted(set(releases)), "a release has at most one new version of a function"
    assert newest(name) is versions[-1]
    assert find(f"${name}", versions[0].since) is versions[0]


def test_scalar_and_aggregate_functions_have_names_of_their_own() -> None:
    shared = Counter({each.name for each in ALL}) + Counter(set(FUNCTIONS))
    assert [name for name, times in shared.items() if times > 1] == []
    assert all(function.name == name for name, function in FUNCTIONS.items())
