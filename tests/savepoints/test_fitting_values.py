"""Which values a column of a state takes: the bounds of whole numbers."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from execnodes.core.errors import StateError
from rekindle.savepoints.contents import read
from rekindle.savepoints.verify import fitted
from tests.savepoints.saved import AGGREGATES


@pytest.mark.parametrize(("type", "bits"), [("TINYINT", 8), ("SMALLINT", 16), ("INT", 32), ("BIGINT", 64)])
@pytest.mark.parametrize("cast", ["HUGEINT", "VARCHAR"])
def test_whole_numbers_stay_inside_their_bits(type: str, bits: int, cast: str) -> None:
    state = replace(read(AGGREGATES).states[0], schema=(("k0", type),), ttl_ms=0)
    most = 2 ** (bits - 1)
    with duckdb.connect() as connection:
        for value in (-most, 0, most - 1):
            query = fitted(connection, state, f"SELECT CAST({value} AS {cast}) AS k0")
            assert connection.sql(query).fetchall() == [(value,)]
        for value in (-most - 1, most):
            with pytest.raises(StateError, match=f"no {type}"):
                fitted(connection, state, f"SELECT CAST({value} AS {cast}) AS k0")
