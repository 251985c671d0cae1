"""Addresses of other file systems are refused by name wherever a path is taken: none becomes a local folder."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

import rekindle
from execnodes.core.errors import ConnectorError, RekindleError
from execnodes.core.local_paths import PathError, find_scheme, parse_local_path
from execnodes.core.options import OPTIONS, Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.app import app_of
from rekindle.cli.commands import COMMANDS
from rekindle.cli.local_paths import path_parameters
from rekindle.connectors.files import list_files
from rekindle.connectors.options import TableOption
from rekindle.connectors.registry import find_sink, find_source, identifiers
from rekindle.files.paths import entered
from rekindle.jobs.home import home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ADDRESSES = (
    "s3://b/j", "s3a://b/j", "S3://b", "hdfs:///j", "hdfs://h:9000/j", "gs://b/j", "abfs://c@a/j", "abfss://c@a/j",
    "wasb://c@a/j", "http://h/j", "https://h/j", "ftp://h/j", "dbfs:/j", "oss://b/j", "viewfs:///j", "x+y-z.1://h/j",
    "file://host/j", "FILE://host/j",
)  # fmt: skip
SAYS = "is not a local file system|cannot name another host"
PATHS = {
    "file:///a/b": "/a/b", "file:/a/b": "/a/b", "file://localhost/a/b": "/a/b", "FILE:///a%20b": "/a b",
    "/s3://b": "/s3://b", "a:b": "a:b", "s3:": "s3:", "s3:b/j": "s3:b/j", "./s3:/b": "./s3:/b", "a/s3://b": "a/s3://b",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert not [each for each in tmp_path.iterdir() if ":" in each.name]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_refused_as_text_and_as_path(address: str) -> None:
    for given in address, Path(address):
        if find_scheme(str(given)) == "file" and isinstance(given, Path):
            continue  # a Path has lost the slashes that show the host
        with pytest.raises(PathError, match=SAYS) as caught:
            entered(given)
        assert caught.value.hint
        assert str(given) in str(caught.value.where)


@pytest.mark.parametrize(("text", "path"), PATHS.items())
def test_what_is_local_stays(text: str, path: str) -> None:
    assert parse_local_path(text) == path


def test_the_home_of_jobs_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REKINDLE_HOME", "s3://b/home")
    with pytest.raises(PathError, match=SAYS):
        home()
    monkeypatch.setenv("REKINDLE_HOME", "file:///home/rekindle")
    assert home() == Path("/home/rekindle")


def is_of_paths(key: str, description: str) -> bool:
    """Whether an option looks as if its value were a path."""
    last = key.rpartition(".")[2]
    return last in ("path", "file") or last.endswith(("dir", "-path", "-file", "directory"))


def test_options_that_are_paths_have_that_kind() -> None:
    """An option that is called so and has another kind would be taken as it is."""
    named = {key for key, each in OPTIONS.items() if is_of_paths(key, each.description) and not each.inert}
    assert named == {key for key, each in OPTIONS.items() if each.kind == "path"}
    for key in named:
        for name in (key, *OPTIONS[key].fallback_keys):
            with pytest.raises(PathError, match=f"{key}: the path cannot be used: s3: is not"):
                Configuration().put(name, "s3://b/j")
            configuration = Configuration()
            configuration.put(name, "file:///a%20b")
            assert configuration[key] == "/a b"


def test_table_options_that_are_paths_are_local_or_read_by_spark() -> None:
    spark_reads = {("filesystem", "path"), ("spark", "spark.options.<option>")}
    every = [(name, find_source(name)) for name in identifiers("source")]
    for identifier, connector in [*every, *((name, find_sink(name)) for name in identifiers("sink"))]:
        for option in connector.declared({"format": "json"}):
            if is_of_paths(option.key, option.description) and (identifier, option.key) not in spark_reads:
                assert option.kind == "path", (identifier, option.key)


def commands() -> Iterator[tuple[list[str], Callable[..., Any]]]:
    for name, (place, _) in COMMANDS.items():
        module, _, attribute = place.partition(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            for each in found.registered_commands:
                assert each.callback is not None
                yield [name, each.name or each.callback.__name__.replace("_", "-")], each.callback
        else:
            yield [name], found


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """One for each parameter that is a path: that one is an address, others that must be given are texts."""
    for words, command in commands():
        hints = typing.get_type_hints(command, include_extras=True)
        paths = path_parameters(hints)
        for wanted in paths:
            line = list(words)
            for name, parameter in inspect.signature(command).parameters.items():
                if name != wanted and parameter.default is not inspect.Parameter.empty:
                    continue
                infos = [each for each in typing.get_args(hints[name]) if hasattr(each, "param_decls")]
                value = "s3://b/x.json" if name == wanted else "a:b=c"
                is_option = type(infos[0]).__name__ == "OptionInfo"
                # Beside an annotation, Typer has the first name of an option as its default.
                flag = next(each for each in (infos[0].default, f"--{name.replace('_', '-')}") if isinstance(each, str))
                line += [flag, value] if is_option else [value]
            yield f"{' '.join(words)} {wanted}", line


LINES = dict(command_lines())


def test_there_are_paths_on_the_command_line() -> None:
    assert len(LINES) > 30


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_path_on_the_command_line_is_local(line: list[str]) -> None:
    result = CliRunner().invoke(app_of([line[0]] if len(line) > 1 else COMMANDS), line)
    assert isinstance(result.exception, PathError), (result.output, result.exception)
    assert result.exception.where == "s3://b/x.json"


@pytest.mark.parametrize(
    "line",
    [
        ["stop", "s3://b/j"], ["list", "-D", "execution.jobs-dir=s3://b/j"], ["state", "inspect", "s3://b/j"],
        ["sql", "-D", "execution.job-dir=s3://b/j", "-e", "SELECT 1"],
        ["sql", "-e", "EXECUTE PLAN 's3://b/p.json'"],
        ["sql", "-e", "COMPILE PLAN 's3://b/p.json' FOR SELECT 1"],
        ["sql", "-e", "SET 'execution.checkpointing.savepoint-dir' = 's3://b/p'"],
        ["sql", "-e", "CREATE CATALOG c WITH ('type' = 'file', 'path' = 's3://b/p')"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_path_in_a_text_is_local(line: list[str]) -> None:
    result = CliRunner().invoke(app_of(), line)
    error = getattr(result.exception, "error", result.exception)
    assert isinstance(error, RekindleError), (result.output, result.exception)
    assert "s3: is not a local file system" in error.message


TABLE = "CREATE TABLE t (a INT) WITH ('connector' = '{}', 'path' = '{}', {});"


@pytest.mark.parametrize(
    ("connector", "path", "more", "statement", "says"),
    [
        (
            "filesystem",
            "s3a://b/t",
            "'format' = 'json'",
            "INSERT INTO t SELECT 1",
            "writes to local folders, not to s3a",
        ),
        ("filesystem", "s3:/b/t", "'format' = 'json'", "INSERT INTO t SELECT 1", SAYS),
        ("filesystem", "s3:/b/t", "'format' = 'json'", "SELECT * FROM t", SAYS),
        ("filesystem", "file://h/t", "'format' = 'json'", "SELECT * FROM t", SAYS),
        ("duckdb", "s3://b/t", "'table' = 't'", "INSERT INTO t SELECT 1", SAYS),
        ("duckdb", "gs://b/t", "'table' = 't'", "SELECT * FROM t", SAYS),
    ],
)
def test_a_path_of_a_table_is_refused_when_it_is_compiled(
    connector: str, path: str, more: str, statement: str, says: str
) -> None:
    environment = TableEnvironment.create()
    environment.execute_sql(TABLE.format(connector, path, more).rstrip(";"))
    with pytest.raises((PathError, ConnectorError), match=says) as caught:
        environment.compile_script(statement)
    assert "table t" in str(caught.value.where) or ".t" in str(caught.value.where)


def test_duckdb_keeps_blanks_of_a_path() -> None:
    option = TableOption("path", "path", "", "A path.")
    assert option.kind == "path"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("path", "says", "hint"),
    [
        (
            "s3a://b/t",
            "jar org.apache.hadoop:hadoop-aws is missing",
            "spark.jars.packages=org.apache.hadoop:hadoop-aws",
        ),
        ("s3://b/t", "cannot read s3:// addresses", "Write s3a://"),
        ("gs://b/t", "gcs-connector is missing", "gcs-connector"),
        ("nope://b/t", "a jar is missing", "Name the jar"),
    ],
)
def test_a_table_that_spark_has_no_jar_for(spark: SparkSession, path: str, says: str, hint: str) -> None:
    with pytest.raises(ConnectorError, match=says) as caught:
        list_files(spark, path, "t")
    assert hint in (caught.value.hint or "")
    assert caught.value.where == f"table t, {path}"


CHECKS = {"entered", "local_path", "parse_local_path", "for_spark", "for_duckdb_database"}


def functions_of_paths() -> Iterator[tuple[str, ast.FunctionDef, str]]:
    """Functions of the package that take a path as text or as `Path`: what callers may give."""
    (root,) = rekindle.__path__
    for file in sorted(Path(root).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            # One line of a protocol does nothing.
            if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
                for each in (*node.args.args, *node.args.kwonlyargs):
                    if each.annotation is not None and "str | Path" in ast.unparse(each.annotation):
                        yield f"{file.relative_to(root)}:{node.name}", node, each.arg


def test_functions_that_take_a_path_look_at_it() -> None:
    """Each hands it to one that looks, or to another one that takes such a path."""
    found = list(functions_of_paths())
    assert len(found) > 10
    looking = CHECKS | {node.name for _, node, _ in found}
    for name, node, parameter in found:
        used = [
            call
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            and any(isinstance(each, ast.Name) and each.id == parameter for each in ast.walk(call))
        ]
        names = {each.func.attr if isinstance(each.func, ast.Attribute) else ast.unparse(each.func) for each in used}
        assert names & looking, f"{name} does not look at {parameter!r}"
