"""Functions: each has one name and version, found by walking their modules."""

import re
from collections import Counter

import pytest

from execnodes.aggregates import BY_INTERNAL_NAME, FUNCTIONS
from execnodes.aggregates.registry import walk
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import INT
from execnodes.core.version import ENGINE_VERSION, version_tuple
from execnodes.functions.function import Function
from execnodes.functions.registry import find, functions, newest
from execnodes.kernels.aggregates.make import make

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


def test_a_family_is_a_module_of_aggregates_and_all_that_is_known_of_them() -> None:
    assert [name for name, times in Counter(each.internal_name for each in walk()).items() if times > 1] == []
    assert {each.internal_name for each in FUNCTIONS.values()} <= set(BY_INTERNAL_NAME)
    for name, function in BY_INTERNAL_NAME.items():
        call = AggregateCall(name="a", internal_name=name, arg_list=(0,), type=function.result(INT))
        made = make(call, INT, False)
        assert f"{type(made).__module__.rpartition('.')[2]}:{type(made).__name__}" == function.accumulator
        assert [each.name for each in made.columns] == [f"a${part}" for part, _ in function.keeps(call, INT, False)]
