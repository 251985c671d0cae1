"""Pytest plugin: the order of the files as they are named, tests without Spark first, or only these."""

from __future__ import annotations

import os

import pytest

SPARK = "REKINDLE_MUTANTS_SPARK"
"""Environment variable: ``no`` leaves out tests with Spark, ``only`` those without."""
_FIXTURES = {"spark", "rekindle_spark"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the others."""
    wanted = os.environ.get(SPARK, "")
    if not wanted:
        return
    chosen = [each for each in items if needs_spark(each) == (wanted == "only")]
    config.hook.pytest_deselected(items=[each for each in items if each not in chosen])
    items[:] = chosen


def needs_spark(item: pytest.Item) -> bool:
    """Whether it asks for a session."""
    return item.get_closest_marker("spark") is not None or bool(_FIXTURES & set(getattr(item, "fixturenames", ())))
