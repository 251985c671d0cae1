"""Pytest plugin: only tests without Spark, or only those with it; failures are not made smaller, which takes long."""

from __future__ import annotations

import os

import hypothesis
import pytest

SPARK = "REKINDLE_MUTANTS_SPARK"
"""Environment variable: ``no`` leaves out tests with Spark, ``only`` those without."""
PROFILE = "mutants"
"""Of hypothesis: the examples of every day."""
_FIXTURES = {"spark", "rekindle_spark"}

hypothesis.settings.register_profile(
    PROFILE,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
)


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
