"""Plans are written as the standard library writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans.format.text import written

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(VALUES)
def test_as_the_standard_library_does(value: Any) -> None:
    assert written(value) == json.dumps(value, indent=2, ensure_ascii=False)


def test_numbers_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        written({"a": [float("nan")]})
