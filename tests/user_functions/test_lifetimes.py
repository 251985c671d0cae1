"""What functions of the user are told of their job, when they are closed, and lists and maps in accumulators."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import JobError, OptionError
from execnodes.core.option_maps import parse_map
from execnodes.core.options import Configuration
from execnodes.state.serializers.pickled import PickleSerializer
from execnodes.user_functions.running import running_functions
from execnodes.user_functions.shipping import opened, ship
from rekindle import DataTypes, ListView, MapView, Row
from rekindle.api.table_environment import TableEnvironment
from rekindle.udf import AggregateFunction, FunctionContext, ScalarFunction, TableFunction, udaf, udf, udtf

PARAMETERS = "pipeline.global-job-parameters"


class Closing(ScalarFunction):
    """Notes what becomes of it in a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def note(self, text: str) -> None:
        with Path(self.path).open("a") as file:
            file.write(text)

    def open(self, context: FunctionContext) -> None:
        self.add = int(context.get_job_parameter("add", "0"))
        self.note("o")

    def eval(self, value: int) -> int:
        if value < 0:
            raise ValueError("negative")
        self.note("e")
        return value + self.add

    def close(self) -> None:
        del self.add
        self.note("c")


class Numbers(TableFunction):
    """As many numbers as the job wants."""

    def open(self, context: FunctionContext) -> None:
        self.rows = int(context.get_job_parameter("rows", 1))

    def eval(self) -> Any:
        yield from range(self.rows)


class Views(AggregateFunction):
    """PyFlink's way to keep what it has seen: the distinct values in their order, the counts of keys."""

    def open(self, context: FunctionContext) -> None:
        self.mark = context.get_job_parameter("mark", "-")

    def create_accumulator(self) -> Row:
        return Row(ListView(), MapView(), "")

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        key, value = args
        if value not in list(accumulator[0]):
            accumulator[0].add(value)
        accumulator[1].put(key, (accumulator[1].get(key) or 0) + 1)
        accumulator[2] = key

    def retract(self, accumulator: Any, *args: Any) -> None:
        left = [each for each in accumulator[0] if each != args[1]]
        accumulator[0].clear()
        accumulator[0].add_all(left)
        accumulator[1][args[0]] -= 1
        if not accumulator[1][args[0]]:
            del accumulator[1][args[0]]

    def get_value(self, accumulator: Any) -> str:
        counts = sorted(accumulator[1].items())
        return f"{self.mark}{','.join(sorted(accumulator[0]))}|{counts}|{'a' in accumulator[1]}"

    def get_accumulator_type(self) -> Any:
        return DataTypes.ROW(
            [
                DataTypes.FIELD("seen", DataTypes.LIST_VIEW(DataTypes.STRING())),
                DataTypes.FIELD("counts", DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.BIGINT())),
                DataTypes.FIELD("last", DataTypes.STRING()),
            ]
        )

    def get_result_type(self) -> Any:
        return DataTypes.STRING()


@dataclass
class Held:
    """An accumulator by hints."""

    values: ListView[int] = field(default_factory=ListView)
    total: int = 0


class Hinted(AggregateFunction):
    """A view in a dataclass."""

    def create_accumulator(self) -> Held:
        return Held()

    def accumulate(self, accumulator: Held, value: int) -> None:
        accumulator.values.add(value)
        accumulator.total += value

    def merge(self, accumulator: Held, others: list[Held]) -> None:
        for other in others:
            accumulator.values.add_all(other.values)
            accumulator.total += other.total

    def get_value(self, accumulator: Held) -> str:
        return f"{sorted(accumulator.values.get())}{accumulator.total}"


class Alone(AggregateFunction):
    """A view is the accumulator."""

    def create_accumulator(self) -> MapView[str, int]:
        return MapView()

    def accumulate(self, accumulator: MapView[str, int], value: str) -> None:
        accumulator[value] = (accumulator[value] or 0) + 1

    def get_value(self, accumulator: MapView[str, int]) -> int:
        return max(accumulator.values(), default=0)


def test_a_function_with_a_close_lives_as_long_as_it_runs(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    shipped = ship("f", Closing(str(noted))).with_parameters({"add": "5"})
    for _ in range(2):
        with running_functions():
            assert opened(shipped)[0].eval(1) == 6
            assert opened(shipped)[0].eval(2) == 7
    with pytest.raises(ValueError, match="negative"), running_functions():
        opened(shipped)[0].eval(-1)
    assert noted.read_text() == "oeec" * 2 + "oc"
    with pytest.raises(JobError, match=r"function f could not be closed: AttributeError: .*add"), running_functions():
        del opened(shipped)[0].add


def test_a_function_without_a_close_is_kept() -> None:
    shipped = ship("n", Numbers())
    with running_functions():
        first = opened(shipped)[0]
    with running_functions():
        assert opened(shipped)[0] is first
        assert opened(shipped.with_parameters({"rows": "3"}))[0].rows == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("a:1", {"a": "1"}),
        ("a: 1 , b:", {"a": "1", "b": ""}),
        ("'a:b':'2, 3',c:it is", {"a:b": "2, 3", "c": "it is"}),
        ("a:'it''s'", {"a": "it's"}),
    ],
)
def test_parameters_are_a_map(text: str, found: dict[str, str]) -> None:
    assert parse_map(text, PARAMETERS) == found


@pytest.mark.parametrize("text", ["a", "a:b:c", ":1", "a:1,,b:2", "a:'b"])
def test_what_is_no_map_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="is not a map"):
        Configuration().put(PARAMETERS, text)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_in_jobs(spark: Any, tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for at, rows in enumerate(([("a", "x", 1), ("b", "y", 2)], [("a", "x", 3), ("c", "z", 4), ("c", "x", 5)])):
        lines = [json.dumps({"k": k, "s": s, "n": n}) for k, s, n in rows]
        (folder / f"{at}.json").write_text("\n".join(lines))
    env = TableEnvironment.create(
        {"execution.runtime-mode": mode, PARAMETERS: "add:10,mark:>", "execution.micro-batch.max-files": "1"},
        spark=spark,
    )
    env.execute_sql(
        f"CREATE TABLE t (k STRING, s STRING, n BIGINT) WITH ('connector'='filesystem','path'='{folder}',"
        "'format'='json')"
    )
    noted = tmp_path / "noted"
    env.create_temporary_function("closing", udf(Closing(str(noted))))
    env.create_temporary_function("numbers", udtf(Numbers(), result_types=["INT"]))
    env.create_temporary_function("views", udaf(Views()))
    env.create_temporary_function("hinted", udaf(Hinted()))
    env.create_temporary_function("alone", udaf(Alone()))
    query = (
        "SELECT views(k, s), SUM(closing(n)), hinted(n), alone(s), MAX(v) "
        "FROM t, LATERAL TABLE(numbers()) AS r (v) GROUP BY n > 100"
    )
    changes = list(env.execute_sql(query).collect_changes())
    assert changes[-1][1] == (">x,y,z|[('a', 2), ('b', 1), ('c', 2)]|True", 65, "[1, 2, 3, 4, 5]15", 3, 0)
    lives = noted.read_text()
    assert lives.count("e") == 5
    assert lives.count("o") == lives.count("c") > 0


def test_views_are_pickled_where_an_accumulator_has_no_type() -> None:
    views = ListView[int](), MapView[str, int]()
    views[0].add_all([1, 2])
    views[1].put_all({"a": 1})
    serializer = PickleSerializer("")
    assert serializer.from_row(serializer.to_row(views)) == views
