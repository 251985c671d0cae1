"""Sessions with the tables of `compared`, in both modes."""

from __future__ import annotations

import pytest

from rekindle import TableEnvironment
from tests.table.compared import BATCH, environment


@pytest.fixture(scope="module")
def env() -> TableEnvironment:
    return environment()


@pytest.fixture(scope="module")
def batch() -> TableEnvironment:
    return environment(BATCH)
