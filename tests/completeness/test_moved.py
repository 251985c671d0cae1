"""Paths that programs imported from earlier releases."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from rekindle.moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_path_is_the_module_of_today(old: str) -> None:
    assert import_module(old) is import_module(MOVED[old])


def test_classes_are_the_same_whatever_is_imported_first() -> None:
    program = (
        "from rekindle.api.table_environment import TableEnvironment as old\n"
        "from rekindle import TableEnvironment as public\n"
        "from rekindle.api.table_environment import TableEnvironment as new\n"
        "assert old is public is new"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_path_that_never_was_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"rekindle\.nowhere"):
        import_module("rekindle.nowhere")


@pytest.mark.parametrize("first", ["import rekindle.udf", "from rekindle.udf import ScalarFunction", "import rekindle"])
def test_the_public_names_are_what_they_are_called_whatever_is_imported_first(first: str) -> None:
    """The function `udf` stands in a module of that name."""
    program = (
        f"{first}\nimport rekindle, types\nfrom rekindle import udf\n"
        "assert callable(udf) and not isinstance(udf, types.ModuleType)\n"
        "from rekindle.udf import udf as same\nassert udf is same\n"
        "for name in rekindle.__all__: assert not isinstance(getattr(rekindle, name), types.ModuleType), name"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
