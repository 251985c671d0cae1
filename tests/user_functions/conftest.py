"""The functions of these tests may be named by plans and savepoints."""

import pytest

from execnodes.core.user_functions import consent


@pytest.fixture(autouse=True, scope="session")
def _functions_of_tests_are_allowed() -> None:
    consent.grant(["tests.user_functions"])
