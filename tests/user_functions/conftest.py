"""The functions of these tests may be named by plans and savepoints."""

import pytest

from execnodes.core import consent


@pytest.fixture(autouse=True)
def _functions_of_tests_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what one test allows is not allowed in the next, whatever their order."""
    monkeypatch.setattr(consent, "_granted", {*consent.granted(), "tests.user_functions"})
