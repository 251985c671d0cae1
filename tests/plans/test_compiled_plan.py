"""CompiledPlan: files are written whole, kept, replaced or refused; plans explain and execute."""

import threading
from pathlib import Path

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.local_paths import PathError
from execnodes.core.version import ENGINE_VERSION
from plans.format.codec import encode
from rekindle.files.atomic_file import write_atomically
from rekindle.files.paths import local_path
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.results.plan_reference import PlanReference
from tests.plans.nodes import example

TEXT = encode(example())
OTHER = encode(example()).replace("Scan(orders)", "Scan(other)")


def never() -> CompiledPlan:
    raise AssertionError("the supplier must not be called")


def test_text_goes_in_and_comes_out() -> None:
    plan = CompiledPlan.from_json_string(TEXT)
    assert plan.as_json_string() == TEXT
    assert plan.get_engine_version() == ENGINE_VERSION
    assert plan.graph == example()
    assert CompiledPlan.of(example()).as_json_string() == TEXT


def test_a_missing_file_is_made_by_the_supplier(tmp_path: Path) -> None:
    path = tmp_path / "new" / "p.json"
    plan = CompiledPlan.from_file(path, lambda: CompiledPlan(TEXT))
    assert plan.as_json_string() == path.read_text(encoding="utf-8") == TEXT
    assert CompiledPlan.from_file(str(path), never).graph == plan.graph
    assert [each.name for each in path.parent.iterdir()] == ["p.json"]


def test_a_missing_file_without_supplier(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"p\.json: there is no such plan file\n.*COMPILE PLAN"):
        CompiledPlan.from_file(tmp_path / "p.json")


def test_messages_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(PlanError, match=r"line 1, column 2, .*p\.json: the JSON ends too early"):
        CompiledPlan.from_file(path)
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(PlanError, match=r"p\.json: the file is not UTF-8"):
        CompiledPlan.from_file(path)
    with pytest.raises(PlanError, match="cannot be read"):
        CompiledPlan.from_file(tmp_path)


def test_a_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    CompiledPlan(TEXT).write_to_file(path)
    CompiledPlan(OTHER).write_to_file(path)
    assert path.read_text(encoding="utf-8") == TEXT
    with pytest.raises(PlanError, match=r"p\.json: the plan file exists already") as caught:
        CompiledPlan(OTHER).write_to_file(path, ignore_if_exists=False)
    assert "table.plan.force-recompile" in str(caught.value)
    CompiledPlan(OTHER).write_to_file(path, ignore_if_exists=False, force=True)
    assert path.read_text(encoding="utf-8") == OTHER
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="exists already"):
        CompiledPlan(TEXT).write_to_file(tmp_path)
    with pytest.raises(PlanError, match="cannot be written"):
        CompiledPlan(TEXT).write_to_file(tmp_path, force=True)


def test_only_one_of_many_writers_wins(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    failures: list[int] = []

    def write(number: int) -> None:
        try:
            write_atomically(path, f"{number}" * 10_000, replace=False)
        except FileExistsError:
            failures.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(failures) == 7
    assert len(set(path.read_text())) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_explain() -> None:
    plan = CompiledPlan(TEXT)
    assert plan.explain().splitlines()[0] == "== Optimized Execution Plan =="
    assert "[+I]" in plan.explain("changelog_mode")
    assert "== Physical Execution Plan ==" in plan.explain("JSON_EXECUTION_PLAN")
    with pytest.raises(PlanError, match="COLOUR"):
        plan.explain("COLOUR")


class Environment:
    def execute_plan(self, plan: CompiledPlan) -> str:
        return f"ran {len(plan.graph.nodes)}"


def test_execute() -> None:
    assert CompiledPlan.from_json_string(TEXT, executor=Environment()).execute() == "ran 4"
    with pytest.raises(PlanError, match="belongs to no table environment"):
        CompiledPlan(TEXT).execute()


@pytest.mark.parametrize(
    ("given", "path"),
    [("a/p.json", "a/p.json"), ("file:///a/p%20q.json", "/a/p q.json"), ("file:/a/p.json", "/a/p.json")],
)
def test_addresses(given: str, path: str) -> None:
    assert local_path(given) == Path(path)


def test_other_addresses_are_refused() -> None:
    with pytest.raises(PathError, match=r"s3://b/p\.json: the path cannot be used: s3: is not a local file system"):
        PlanReference.from_file("s3://b/p.json")


def test_references() -> None:
    assert PlanReference.from_json_string("{}").read() == "{}"
    assert PlanReference.from_file("p.json").source == "p.json"


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for force in (False, True):
        with pytest.raises(PlanError, match="cannot be written: Not a directory"):
            CompiledPlan.from_json_string(encode(example())).write_to_file(
                tmp_path / "file" / "plan.json", ignore_if_exists=False, force=force
            )
