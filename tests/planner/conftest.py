"""A connector of the tests: no own source gives updates without -U yet."""

from __future__ import annotations

import pytest

import execnodes.connectors
from execnodes.core.changelog import UPSERT
from execnodes.core.connectors import ConnectorDeclaration, SourceAbilities


@pytest.fixture(autouse=True)
def _upserts(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = ConnectorDeclaration("upserts", SourceAbilities(UPSERT))
    monkeypatch.setitem(execnodes.connectors._declared, "upserts", declared)
