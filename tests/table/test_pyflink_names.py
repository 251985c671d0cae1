"""The first lines of PyFlink programs: settings, columns as attributes."""

from __future__ import annotations

import datetime

import pytest

import rekindle
from rekindle import (
    EnvironmentSettings,
    ExplainDetail,
    FormatDescriptor,
    ResultKind,
    Schema,
    TableDescriptor,
    TableEnvironment,
)
from rekindle.absent_names import ABSENT


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


@pytest.mark.parametrize("name", ["StreamTableEnvironment", "TableSchema", "range_"])
def test_what_pyflink_has_and_we_have_not_says_what_to_write(name: str) -> None:
    with pytest.raises(ImportError, match=f"{name} of PyFlink is not in rekindle: .* "):
        exec(f"from rekindle import {name}")


def test_absent_names_are_absent() -> None:
    assert not set(ABSENT) & set(rekindle.__all__)


def test_options_are_set_as_in_pyflink() -> None:
    config = TableEnvironment.create().get_config()
    configuration = config.get_configuration()
    configuration.set_string("parallelism.default", "1").set_boolean("table.dml-sync", True)
    configuration.set_integer("parallelism.default", 2)
    config.set_idle_state_retention(datetime.timedelta(minutes=5)).add_configuration({"pipeline.name": "n"})
    assert config.to_map() == {
        "parallelism.default": "2", "table.dml-sync": "true", "table.exec.state.ttl": "300000 ms", "pipeline.name": "n",
    }  # fmt: skip
    assert (configuration.get_string("pipeline.name", ""), configuration.get_string("execution.job-dir", "x")) == (
        "n", "x",
    )  # fmt: skip


def test_a_table_in_a_text_is_its_name_in_sql() -> None:
    environment = TableEnvironment.create()
    table = environment.from_elements([(1, "a")], ["k", "word"])
    assert environment.sql_query(f"SELECT word FROM {table} WHERE k > 0").get_schema().get_column_names() == ["word"]
    assert repr(table).startswith('Table("SELECT * FROM')


def test_formats_have_options() -> None:
    form = FormatDescriptor.for_format("json").option("ignore-parse-errors", True).build()
    made = TableDescriptor.for_connector("filesystem").option("path", "/x").format(form).comment("c").build()
    assert (form.get_format(), form.get_options()) == ("json", {"ignore-parse-errors": "true"})
    assert made.get_options() == {
        "connector": "filesystem", "path": "/x", "format": "json", "json.ignore-parse-errors": "true",
    }  # fmt: skip
    assert (made.get_schema(), made.get_partition_keys(), made.get_comment()) == (None, [], "c")
    assert made.format("csv", "key").get_options()["key.format"] == "csv"


def test_a_descriptor_is_a_table() -> None:
    environment = TableEnvironment.create()
    schema = Schema.new_builder().column("k", "INT").build()
    descriptor = TableDescriptor.for_connector("datagen").schema(schema).build()
    tables = [environment.from_descriptor(descriptor) for _ in range(2)]
    assert [each.get_schema().get_column_names() for each in tables] == [["k"], ["k"]]
    assert len(environment.list_tables()) == 2


def test_results_say_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    environment = TableEnvironment.create()
    created = environment.execute_sql("CREATE TEMPORARY VIEW one AS SELECT 1 AS k")
    assert created.get_result_kind() is ResultKind.SUCCESS
    created.wait()
    shown = environment.execute_sql("SHOW VIEWS")
    assert shown.get_result_kind() is ResultKind.SUCCESS_WITH_CONTENT
    schema = shown.get_table_schema()
    assert (schema.get_field_count(), schema.get_field_name(0), schema.get_field_name(1)) == (1, "view name", None)
    assert str(schema.get_field_data_type("view name")) == str(schema.get_field_data_type(0)) == "STRING"
    assert schema.get_field_data_type("x") is None
    assert str(schema.to_row_data_type()) == "ROW<`view name` STRING>"
    environment.from_path("one").print_explain(ExplainDetail.CHANGELOG_MODE)
    assert "[+I]" in capsys.readouterr().out
    statements = environment.create_statement_set()
    environment.execute_sql("CREATE TABLE sink (k INT) WITH ('connector' = 'print')")
    statements.add(environment.from_path("one").insert_into("sink")).print_explain()
    assert "sink" in capsys.readouterr().out
