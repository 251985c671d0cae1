"""Which client of Spark's map state is used: the fast one leans on parts of PySpark that may change."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from execnodes.state.pages.spark_client import PublicMapClient, client_for

ONE, OTHER = (1, 0, 0), (2, 0, 0)


def test_an_unknown_pyspark_is_used_slowly_and_said_so(caplog: pytest.LogCaptureFixture) -> None:
    stored = {ONE: (b"page",)}
    state = SimpleNamespace(getValue=stored.get, removeKey=stored.pop, updateValue=stored.__setitem__)
    with caplog.at_level(logging.WARNING, logger="rekindle.state"):
        client = client_for(state)
        client_for(state)
    assert isinstance(client, PublicMapClient)
    assert [each.getMessage() for each in caplog.records] == [
        "PySpark's client of state is not one that is known: keys are read and written one by one"
    ]
    client.put([(OTHER, b"other")])
    client.remove([ONE])
    assert client.get([ONE, OTHER]) == [None, b"other"]
