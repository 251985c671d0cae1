"""The examples of docs/functions.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from execnodes.user_functions.loading import definition_of

EXAMPLES = re.findall(r"```python\n(.*?)```", Path("docs/functions.md").read_text(encoding="utf-8"), re.S)


@pytest.mark.spark
def test_the_examples_that_run(spark: Any) -> None:
    names: dict[str, Any] = {"__name__": "examples_of_docs"}
    exec(EXAMPLES[0], names)
    assert names["initials"]("Ada", None) == "A?"
    exec(EXAMPLES[3], names)


@pytest.mark.parametrize(
    ("example", "name", "shown"),
    [
        (1, "Rate", "f(currency STRING) → DOUBLE"),
        (1, "half", "f(values of any type) → DOUBLE"),
        (2, "price", "f(article STRING) → DOUBLE"),
        (2, "Price", "f(article STRING) → DOUBLE"),
        (4, "WeightedMean", "f(value DOUBLE, weight DOUBLE) → DOUBLE"),
    ],
)
def test_the_others_are_functions(example: int, name: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    module = types.ModuleType("examples_of_docs")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(EXAMPLES[example], vars(module))
    assert str(definition_of(vars(module)[name], "f")) == shown
