"""The first lines of PyFlink programs: settings, columns as attributes."""

from __future__ import annotations

import pytest

from rekindle import EnvironmentSettings, TableEnvironment


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
