"""The first lines of PyFlink programs: settings, columns as attributes, functions called with columns."""

from __future__ import annotations

from typing import Any

import pytest

from execnodes.core.errors import FunctionError
from rekindle import EnvironmentSettings, TableEnvironment, col
from rekindle.udf import TableFunction, udf, udtf


class Words(TableFunction):
    def eval(self, text: str) -> Any:
        yield (text,)


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        (EnvironmentSettings.in_streaming_mode(), "streaming"),
        (EnvironmentSettings.in_batch_mode(), "batch"),
        (EnvironmentSettings.new_instance().in_batch_mode().build(), "batch"),
        (EnvironmentSettings.new_instance().with_configuration({"execution.runtime-mode": "batch"}).build(), "batch"),
    ],
)
def test_settings_decide_the_mode_of_a_session(settings: EnvironmentSettings, mode: str) -> None:
    environment = TableEnvironment.create(settings)
    assert str(environment.get_config().get("execution.runtime-mode", "")) == mode
    assert settings.is_streaming_mode() == (mode == "streaming")


def test_columns_are_attributes_of_a_table() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    table = environment.from_elements([(1, "a")], ["k", "word"])
    assert table.select(table.word).get_resolved_schema().get_column_names() == ["word"]
    with pytest.raises(AttributeError, match="'missing'"):
        _ = table.missing


@pytest.mark.parametrize("function", [udf(lambda x: 0 if x is None else x, input_types=["INT"], result_type="INT")])
def test_scalar_functions_reject_columns(function: Any) -> None:
    assert function(3) == 3
    with pytest.raises(FunctionError, match="called with a column"):
        function(col("c"))


def test_table_functions_reject_columns() -> None:
    with pytest.raises(FunctionError, match="called with a column"):
        udtf(Words(), result_types=["STRING"])(col("c"))
