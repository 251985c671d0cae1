"""Functions of the user in SQL statements and in plans: names, what is stored, what restoring needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execnodes.core.errors import CatalogError, FunctionError, PlanError, SqlError
from rekindle.api.table_environment import TableEnvironment
from rekindle.udf import udf
from tests.user_functions import examples

MODULE = examples.__name__
TABLE = "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3')"


def environment(*statements: str, **options: str) -> TableEnvironment:
    made = TableEnvironment.create({key.replace("_", "-"): value for key, value in options.items()})
    for statement in (TABLE, *statements):
        made.execute_sql(statement)
    return made


def calls(found: TableEnvironment, query: str) -> list[dict[str, Any]]:
    """The calls in the JSON of a query's plan that are not the system's."""
    plan = json.loads(found.compile_plan_sql(query).as_json_string())
    seen: list[dict[str, Any]] = []

    def look(value: Any) -> None:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(each)
        if isinstance(value, dict) and value.get("kind") == "CALL" and "internalName" not in value:
            seen.append({key: each for key, each in value.items() if key not in ("kind", "operands")})

    look(plan["nodes"])
    return seen


def rows(found: TableEnvironment, statement: str) -> list[str]:
    return [row[0] for _, row in found.execute_sql(statement).collect_changes()]


CATALOG_NAME = "`default_catalog`.`default_database`.`f`"


def test_what_a_plan_says_of_functions() -> None:
    made = environment(f"CREATE FUNCTION F AS '{MODULE}:shout' LANGUAGE PYTHON")
    made.create_temporary_system_function("S", examples.shout)
    made.create_temporary_function("g", udf(examples.bare, deterministic=False))
    assert calls(made, "SELECT f(b) FROM t") == [
        {"catalogName": CATALOG_NAME, "class": f"{MODULE}:shout", "type": "STRING"}
    ]
    assert calls(made, "SELECT s(b) FROM t") == [{"systemName": "s", "type": "STRING"}]
    assert calls(made, "SELECT default_database.g(a) FROM t") == [
        {"catalogName": CATALOG_NAME.replace("f`", "g`"), "nonDeterministic": True, "type": "BIGINT"}
    ]


@pytest.mark.parametrize(("option", "stored"), [("ALL", True), ("SCHEMA", False), ("IDENTIFIER", False)])
def test_how_much_of_a_catalog_function_is_stored(option: str, stored: bool) -> None:
    made = environment(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    made.configuration.put("table.plan.compile.catalog-objects", option)
    assert [("class" in each) for each in calls(made, "SELECT f(b) FROM t")] == [stored]


def test_which_function_a_name_means() -> None:
    made = environment(f"CREATE FUNCTION upper AS '{MODULE}:shout' LANGUAGE PYTHON")
    assert calls(made, "SELECT UPPER(b) FROM t") == []
    assert len(calls(made, "SELECT default_database.upper(b) FROM t")) == 1
    made.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION upper AS '{MODULE}:shout' LANGUAGE PYTHON")
    assert calls(made, "SELECT UPPER(b) FROM t") == [{"systemName": "upper", "type": "STRING"}]
    made.create_temporary_function("f", examples.bare)
    made.execute_sql(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    assert [each["type"] for each in calls(made, "SELECT f(a) FROM t")] == ["BIGINT"]


def test_a_python_function_stands_for_a_class_of_java() -> None:
    made = environment()
    with pytest.raises(SqlError, match="LANGUAGE JAVA is not supported") as caught:
        made.execute_sql("CREATE FUNCTION f AS 'com.acme.Shout'")
    assert "'pipeline.classes.python' = 'com.acme.Shout:module.function'" in (caught.value.hint or "")
    made.execute_sql(f"SET 'pipeline.classes.python' = 'com.acme.Shout:{MODULE}.shout,com.acme.Bare:{MODULE}.bare'")
    made.execute_sql("CREATE FUNCTION f AS 'com.acme.Shout'")
    assert [each["class"] for each in calls(made, "SELECT f(b) FROM t")] == [f"{MODULE}.shout"]
    made.execute_sql("ALTER FUNCTION f AS 'com.acme.Bare' LANGUAGE JAVA")
    assert [each["type"] for each in calls(made, "SELECT f(a) FROM t")] == ["BIGINT"]
    made.execute_sql("RESET 'pipeline.classes.python'")
    with pytest.raises(SqlError, match="LANGUAGE JAVA"):
        made.execute_sql("CREATE FUNCTION g AS 'com.acme.Shout'")


def test_statements_about_functions() -> None:
    made = environment(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    made.execute_sql(f"CREATE FUNCTION IF NOT EXISTS F AS '{MODULE}:bare' LANGUAGE PYTHON")
    made.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION g AS '{MODULE}:bare' LANGUAGE PYTHON")
    assert rows(made, "SHOW USER FUNCTIONS") == ["f", "g"]
    assert {"f", "g", "upper"} <= set(rows(made, "SHOW FUNCTIONS"))
    made.execute_sql(f"ALTER FUNCTION f AS '{MODULE}:bare' LANGUAGE PYTHON")
    assert [each["type"] for each in calls(made, "SELECT f(a) FROM t")] == ["BIGINT"]
    made.execute_sql("ALTER TEMPORARY SYSTEM FUNCTION IF EXISTS h AS 'm:h' LANGUAGE PYTHON")
    made.execute_sql("DROP TEMPORARY SYSTEM FUNCTION g")
    made.execute_sql("DROP FUNCTION F")
    assert rows(made, "SHOW USER FUNCTIONS") == []
    for statement, message in (
        ("ALTER FUNCTION f AS 'm:h' LANGUAGE PYTHON", "does not exist"),
        ("DROP TEMPORARY FUNCTION f", "does not exist"),
    ):
        with pytest.raises(CatalogError, match=message):
            made.execute_sql(statement)


@pytest.mark.parametrize(
    ("query", "message", "column"),
    [
        ("SELECT shout(a) FROM t", r"shout does not take \(INT\)", 8),
        ("SELECT gone(a) FROM t", "cannot be imported", 8),
        ("SELECT shouts(a) FROM t", "unknown function shouts", 8),
        ("SELECT ARRAY_CONTAINS(ARRAY['x'], shout(b)) FROM t", "may not stand in the second operand", 8),
        ("SELECT 1 FROM t AS x LEFT JOIN t AS y ON x.a = y.a AND shout(x.b || y.b) = 'A'", "LEFT join", 22),
    ],
)
def test_refused_with_its_place(query: str, message: str, column: int) -> None:
    made = environment("CREATE FUNCTION gone AS 'nowhere_at_all:f' LANGUAGE PYTHON")
    made.create_temporary_function("shout", examples.shout)
    with pytest.raises(SqlError, match=f"(?i){message}") as caught:
        made.compile_plan_sql(query)
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (1, column)
    assert caught.value.hint


def test_registering_says_at_once_what_is_wrong() -> None:
    made = environment()
    with pytest.raises(FunctionError, match="function f: the type of its result is not known"):
        made.create_temporary_function("f", examples.untyped)
    made.create_temporary_function("f", examples.shout)
    with pytest.raises(CatalogError, match="exists already"):
        made.create_temporary_function("F", examples.shout)
    assert made.drop_temporary_function("f")
    assert not made.drop_temporary_function("f")


def test_a_restored_plan_finds_its_functions() -> None:
    made = environment(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    permanent = made.compile_plan_sql("SELECT f(b) FROM t")
    other = environment()
    assert str(other.functions_of(other.resolved(permanent))[CATALOG_NAME]) == "f(text STRING) → STRING"
    other.configuration.put("table.plan.restore.catalog-objects", "IDENTIFIER")
    with pytest.raises(PlanError, match="not in the catalog"):
        other.functions_of(permanent.graph)
    other.execute_sql(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    assert CATALOG_NAME in other.functions_of(permanent.graph)


def test_a_temporary_function_must_be_registered_again() -> None:
    made = environment()
    made.create_temporary_function("f", examples.shout)
    made.create_temporary_system_function("s", examples.bare)
    for query, what in (
        ("SELECT f(b) FROM t", "function `default"),
        ("SELECT s(a) FROM t", "temporary system function s"),
    ):
        plan = made.compile_plan_sql(query)
        with pytest.raises(PlanError, match=f"{what}.* is not registered") as caught:
            environment().functions_of(plan.graph)
        assert caught.value.where is not None
        assert caught.value.hint is not None


def test_a_function_that_has_changed_is_refused() -> None:
    made = environment()
    made.create_temporary_function("f", examples.bare)
    plan = made.compile_plan_sql("SELECT f(a) FROM t")
    for changed in (examples.shout, udf(examples.bare, result_type="INT"), udf(examples.bare, deterministic=False)):
        other = environment()
        other.create_temporary_function("f", changed)
        with pytest.raises(PlanError, match="has changed: the plan calls"):
            other.functions_of(plan.graph)


def test_all_enforced_takes_the_class_in_the_plan() -> None:
    made = environment(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    with_class = made.compile_plan_sql("SELECT f(b) FROM t")
    made.configuration.put("table.plan.compile.catalog-objects", "IDENTIFIER")
    without = made.compile_plan_sql("SELECT f(b) FROM t")
    made.configuration.put("table.plan.restore.catalog-objects", "ALL_ENFORCED")
    made.execute_sql("ALTER FUNCTION f AS 'nowhere:f' LANGUAGE PYTHON")
    assert CATALOG_NAME in made.functions_of(with_class.graph)
    with pytest.raises(PlanError):
        made.functions_of(without.graph)


def test_describe_function() -> None:
    made = environment(f"CREATE FUNCTION f AS '{MODULE}:shout' LANGUAGE PYTHON")
    made.create_temporary_function("w", examples.words)
    made.create_temporary_function("m", examples.WeightedMean)
    made.create_temporary_system_function("a", examples.asked)

    def facts(text: str) -> dict[str, str]:
        return dict(made.execute_sql(f"DESCRIBE FUNCTION {text}").rows)

    assert facts("f") == {
        "is system function": "false",
        "is temporary": "false",
        "class name": f"{MODULE}:shout",
        "function language": "PYTHON",
    }
    kinds = {name: facts(f"EXTENDED {name}")["kind"] for name in ("F", "w", "default_database.m", "a", "upper", "sum")}
    assert kinds == {
        "F": "SCALAR", "w": "TABLE", "default_database.m": "AGGREGATE", "a": "ASYNC_SCALAR",
        "upper": "SCALAR", "sum": "AGGREGATE",
    }  # fmt: skip
    assert facts("EXTENDED w")["signature"] == "w(text STRING) → TABLE<`f0` STRING, `f1` BIGINT> NOT NULL"
    assert facts("a") == {"is system function": "true", "is temporary": "true"}
    with pytest.raises(CatalogError, match="function `nope` does not exist"):
        facts("nope")
    listed = rows(made, "SHOW FUNCTIONS")
    assert {"a", "f", "m", "w", "upper", "sum", "row_number"} <= set(listed)
    assert not [name for name in listed if name.startswith("unnest")]
