"""Changing an option changes something, whatever it is for; those that are said to change nothing change nothing."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import MagicMock, patch

import pytest

from execnodes.core.async_options import options_of
from execnodes.core.consent import granted
from execnodes.core.errors import OptionError, RekindleError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import OPTIONS, ConfigOption, Configuration
from execnodes.core.tables import ResolvedTable
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.base import ProviderContext, SourceRequest
from rekindle.connectors.registry import find_source
from rekindle.engine.inputs import Limits
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.home import jobs_dir
from rekindle.pipeline.record import record
from rekindle.runtime.assemble import job_parameters, session_for
from rekindle.runtime.restarts import strategy_of
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.recovery import recover
from rekindle.savepoints.restore import Restore
from tests.check.plans import TABLES
from tests.user_functions import examples

Effect = Callable[[Path, Mapping[str, str]], object]
"""What can be seen with options set; it has a folder of its own."""
SINKS = """
CREATE TABLE cdc (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/cdc', 'format' = 'debezium-json');
CREATE TABLE nanoseconds (k TIMESTAMP(9)) WITH ('connector' = 'datagen');
CREATE TABLE typed (k VARCHAR(2) NOT NULL, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE keyed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '/nowhere/o.duckdb', 'table' = 'o');
"""
SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
DISTINCT = "SELECT k, COUNT(DISTINCT v) AS d FROM t GROUP BY k"
SPLIT = "SET 'table.optimizer.distinct-agg.split.enabled' = 'true';"
FIRST = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1"
WINDOW = (
    "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    "GROUP BY window_start, window_end"
)

OLD_WINDOW = "SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"


def _graph(query: str, options: Mapping[str, str]) -> ExecGraph:
    return TableEnvironment.create(dict(options)).compile_script(TABLES + SINKS + query).graph


def decided(query: str) -> Effect:
    """What the planner decides: the plan, without the options that nodes only keep."""

    def effect(folder: Path, options: Mapping[str, str]) -> object:
        text = TableEnvironment.create(dict(options)).compile_script(TABLES + SINKS + query).as_json_string()
        document = json.loads(text)
        for node in document["nodes"]:
            node.pop("configuration", None)
        uids = [node.addresses() for node in load(text).nodes]
        return document, uids

    return effect


def lowered(query: str, seen: Callable[[ExecGraph], object]) -> Effect:
    """What nodes say of how they run."""
    return lambda folder, options: seen(_graph(query, options))


def refused(effect: Effect) -> Effect:
    """Whether, and how, something is refused."""

    def seen(folder: Path, options: Mapping[str, str]) -> object:
        try:
            effect(folder, options)
        except RekindleError as error:
            return type(error), error.message
        return None

    return seen


def _sinks(graph: ExecGraph) -> object:
    return [each.rows for each in record(graph).sinks]


def _timeouts(graph: ExecGraph) -> object:
    return [each.idle_after for each in record(graph).sources.values()]


def _job(folder: Path, options: Mapping[str, str]) -> tuple[StreamJob, MagicMock]:
    spark = MagicMock()
    folders = {"execution.job-dir": str(folder / "job"), **options}
    return StreamJob(_graph(SUM, {}), "", Configuration(folders), spark=spark), spark


def _settings(folder: Path, options: Mapping[str, str]) -> object:
    """What a job asks of Spark's session."""
    with patch("rekindle.runtime.assemble.prepare") as asked:
        session_for(_job(folder, options)[0]._order, {})
    return [each.args[1:] for each in asked.call_args_list]


def _patience(folder: Path, options: Mapping[str, str]) -> object:
    return _job(folder, options)[0]._guard.patience


def _pace(folder: Path, options: Mapping[str, str]) -> object:
    return _job(folder, options)[0].pace


def _folder(folder: Path, options: Mapping[str, str]) -> object:
    return _job(folder, options)[0].folder.path


def _name(folder: Path, options: Mapping[str, str]) -> object:
    environment = TableEnvironment.create(dict(options), spark=MagicMock())
    plan = environment.compile_script(TABLES + SUM)
    with patch("rekindle.runtime.batch_job.job_of") as made:
        environment._job(plan.graph, plan)
    return made.call_args.kwargs["name"]


def _waits(folder: Path, options: Mapping[str, str]) -> object:
    """Whether a script waits for an INSERT before its next statement."""
    environment = TableEnvironment.create(dict(options))
    with patch("rekindle.api.table_environment.execute") as executed:
        executed.return_value.is_query = False
        environment.execute_script("SELECT 1")
    return executed.return_value.await_.call_count


def _request(table: ResolvedTable, folder: Path, options: Mapping[str, str]) -> SourceRequest:
    (source,) = record(_graph(SUM, {})).sources.values()
    context = ProviderContext(source.node, set())
    return SourceRequest(table, "t", (), "1_source", True, False, Configuration(options), folder, context=context)


def _files(folder: Path, options: Mapping[str, str]) -> object:
    """How many files a micro-batch takes."""
    for number in range(5):
        (folder / f"{number}.json").write_text("{}")
    (source,) = record(_graph(SUM, {})).sources.values()
    assert source.table is not None
    assert source.table.resolved_table is not None
    given = {"connector": "filesystem", "path": str(folder), "format": "json"}
    table = source.table.resolved_table.model_copy(update={"options": given})
    positions = find_source("filesystem", "t").positions(MagicMock(), _request(table, folder, options))
    assert positions is not None
    news = positions.plan(None)
    assert news is not None
    return len(news.position["read"])


def _numbers(folder: Path, options: Mapping[str, str]) -> object:
    """How many rows of a generator a micro-batch takes."""
    table = ResolvedTable.model_validate(
        {"schema": {"columns": [{"name": "k", "dataType": "INT"}]}, "options": {"connector": "datagen"}}
    )
    positions = find_source("datagen", "t").positions(MagicMock(), _request(table, folder, options))
    assert positions is not None
    news = positions.plan(None)
    assert news is not None
    return news.position


def _recovered(folder: Path, options: Mapping[str, str]) -> object:
    """What a job is told to restore, and how."""
    with patch("rekindle.savepoints.recovery.prepare") as asked:
        asked.return_value = Restore(folder, MagicMock(watermark=0, history=()), ())
        path = {"execution.state-recovery.path": str(folder)}
        found = recover(JobFolder(folder), Configuration({**path, **options}), _graph(SUM, {}))
    return found is None, asked.call_args


def _savepoints(folder: Path, options: Mapping[str, str]) -> object:
    return TableEnvironment.create(dict(options)).execute_sql("STOP JOB 'x' WITH SAVEPOINT")


def _evolved(folder: Path, options: Mapping[str, str]) -> object:
    old = TableEnvironment.create({}).compile_script(TABLES + SUM)
    new = SUM.replace("GROUP", "WHERE w > 1 GROUP")
    return TableEnvironment.create(dict(options)).compile_script(TABLES + new, from_plan=old)


def _written(folder: Path, options: Mapping[str, str]) -> object:
    environment = TableEnvironment.create(dict(options))
    environment.execute_script(TABLES + SINKS)
    (folder / "plan.json").write_text("there is one")
    return environment.execute_sql(f"COMPILE PLAN '{folder}/plan.json' FOR INSERT INTO typed SELECT k, v FROM t")


def _restored(folder: Path, options: Mapping[str, str]) -> object:
    """The tables of a plan that a session restores whose catalog has another one of that name."""
    plan = TableEnvironment.create({}).compile_script(TABLES + SUM)
    session = TableEnvironment.create(dict(options))
    more = "'format' = 'json', 'source.monitor-interval' = '1 s'"
    session.execute_script(TABLES.replace("'format' = 'json'", more).replace("/nowhere", "/there"))
    return encode(session.resolved(plan))


def _unknown_dialect(folder: Path, options: Mapping[str, str]) -> object:
    return TableEnvironment.create(dict(options))


def _created(folder: Path, options: Mapping[str, str]) -> object:
    return TableEnvironment.create(dict(options)).execute_sql("CREATE FUNCTION words AS 'com.acme.Words'")


def _allowed(folder: Path, options: Mapping[str, str]) -> object:
    """Which modules plans may name classes of."""
    with patch("execnodes.core.consent._granted", set()):
        TableEnvironment.create(dict(options))
        return sorted(granted())


def _waiting(folder: Path, options: Mapping[str, str]) -> object:
    """How functions are called that wait (`tests/user_functions/test_waiting.py` has what comes of it)."""
    made = TableEnvironment.create(dict(options))
    made.create_temporary_function("asked", examples.asked)
    return list(map(options_of, made.compile_plan_sql("SELECT asked(v) FROM (VALUES 1) AS t (v)").graph.nodes))


def restarting(strategy: str) -> Effect:
    """When a job starts again after failures, by a strategy."""

    def effect(folder: Path, options: Mapping[str, str]) -> object:
        return vars_of(strategy_of(Configuration({"restart-strategy.type": strategy, **options})))

    return effect


def vars_of(strategy: object) -> object:
    return type(strategy), {name: getattr(strategy, name) for name in getattr(strategy, "__dataclass_fields__", {})}


EFFECTS: Mapping[str, tuple[Effect, str]] = {
    "execution.runtime-mode": (decided(SUM), "batch"),
    "parallelism.default": (_settings, "7"),
    "pipeline.classes.allowed": (_allowed, "jobs.functions"),
    "pipeline.classes.python": (refused(_created), "com.acme.Words:tests.user_functions.examples.words"),
    "pipeline.global-job-parameters": (lambda folder, options: job_parameters(Configuration(options)), "a:1"),
    "pipeline.max-parallelism": (decided(SUM), "64"),
    "pipeline.name": (_name, "mine"),
    "execution.micro-batch.interval": (_pace, "3 s"),
    "execution.micro-batch.max-files": (_files, "3"),
    "execution.micro-batch.max-rows": (_numbers, "3"),
    "execution.micro-batch.one-task-size": (lambda folder, options: Limits.of(Configuration(options)), "64 kb"),
    "slot.request.timeout": (_patience, "7 s"),
    "execution.job-dir": (_folder, "/elsewhere"),
    "execution.jobs-dir": (lambda folder, options: jobs_dir(Configuration(options)), "/elsewhere"),
    "execution.checkpointing.savepoint-dir": (refused(_savepoints), "/elsewhere"),
    "execution.state-recovery.path": (_recovered, "/elsewhere"),
    "execution.state-recovery.ignore-unclaimed-state": (_recovered, "true"),
    "execution.state-recovery.drop": (_recovered, "1_x:y"),
    "table.local-time-zone": (
        lowered("INSERT INTO typed SELECT DATE_FORMAT(CURRENT_TIMESTAMP, 'HH'), v FROM t", _sinks), "Asia/Tokyo",
    ),
    "table.dml-sync": (_waits, "false"),
    "table.exec.state.ttl": (decided(SUM), "1 h"),
    "table.exec.emit.allow-lateness": (decided(OLD_WINDOW), "1 h"),
    "table.exec.emit.early-fire.enabled": (decided(OLD_WINDOW), "true"),
    "table.exec.emit.late-fire.enabled": (refused(decided(OLD_WINDOW)), "true"),
    "table.exec.async-scalar.max-concurrent-operations": (_waiting, "7"),
    "table.exec.async-scalar.timeout": (_waiting, "7 s"),
    "table.exec.async-scalar.retry-strategy": (_waiting, "NO_RETRY"),
    "table.exec.async-scalar.retry-delay": (_waiting, "7 s"),
    "table.exec.async-scalar.max-attempts": (_waiting, "7"),
    "table.exec.sink.not-null-enforcer": (lowered("INSERT INTO typed SELECT k, v FROM t", _sinks), "DROP"),
    "table.exec.sink.type-length-enforcer": (lowered("INSERT INTO typed SELECT k, v FROM t", _sinks), "TRIM_PAD"),
    "table.exec.sink.upsert-materialize": (
        decided("INSERT INTO keyed SELECT k, SUM(v) FROM t GROUP BY k, k2 ON CONFLICT DO DEDUPLICATE"), "NONE",
    ),
    "table.exec.sink.require-on-conflict": (
        refused(decided("INSERT INTO keyed SELECT k, SUM(v) FROM t GROUP BY k, k2")), "false",
    ),
    "table.exec.source.time-precision-enforcer": (refused(decided("SELECT k FROM nanoseconds")), "TRIM"),
    "table.exec.source.cdc-events-duplicate": (decided("SELECT k, SUM(v) FROM cdc GROUP BY k"), "true"),
    "table.exec.source.idle-timeout": (lowered(WINDOW, _timeouts), "5 s"),
    "table.exec.lateness.granularity": (lowered(WINDOW, lambda graph: record(graph).row_watermarks), "row"),
    "__table.exec.sort.non-temporal.enabled__": (refused(decided(f"{SUM} ORDER BY s")), "true"),
    "table.exec.mini-batch.enabled": (decided(FIRST), "true"),
    "table.exec.uid.format": (decided(SUM), "<operator>-<id>"),
    "table.optimizer.distinct-agg.split.enabled": (decided(DISTINCT), "true"),
    "table.optimizer.distinct-agg.split.bucket-num": (decided(f"{SPLIT} {DISTINCT}"), "8"),
    "table.optimizer.incremental-agg-enabled": (decided(f"{SPLIT} {DISTINCT}"), "false"),
    "table.optimizer.agg-phase-strategy": (decided(SUM), "ONE_PHASE"),
    "table.optimizer.non-deterministic-update.strategy": (
        refused(decided("SELECT v, NOW() FROM cdc")), "TRY_RESOLVE",
    ),
    "table.optimizer.reuse-sub-plan-enabled": (decided(f"{SUM} UNION ALL {SUM}"), "false"),
    "table.plan.compile.catalog-objects": (decided(SUM), "IDENTIFIER"),
    "table.plan.restore.catalog-objects": (_restored, "ALL_ENFORCED"),
    "table.plan.restore.enrich-table-options": (_restored, "false"),
    "table.plan.force-recompile": (refused(_written), "true"),
    "table.plan.evolution.consent": (refused(_evolved), "allow"),
    "table.plan.evolution.bootstrap": (refused(_evolved), "99_join"),
    "table.plan.evolution.map": (refused(_evolved), "nowhere=elsewhere"),
    "restart-strategy.type": (restarting("exponential-delay"), "none"),
    "restart-strategy.fixed-delay.attempts": (restarting("fixed-delay"), "7"),
    "restart-strategy.fixed-delay.delay": (restarting("fixed-delay"), "7 s"),
    "restart-strategy.exponential-delay.attempts-before-reset-backoff": (restarting("exponential-delay"), "7"),
    "restart-strategy.exponential-delay.backoff-multiplier": (restarting("exponential-delay"), "7.0"),
    "restart-strategy.exponential-delay.initial-backoff": (restarting("exponential-delay"), "7 s"),
    "restart-strategy.exponential-delay.jitter-factor": (restarting("exponential-delay"), "0.7"),
    "restart-strategy.exponential-delay.max-backoff": (restarting("exponential-delay"), "7 min"),
    "restart-strategy.exponential-delay.reset-backoff-threshold": (restarting("exponential-delay"), "7 h"),
    "table.sql-dialect": (refused(_unknown_dialect), "hive"),
}  # fmt: skip
"""Of each option: something that can be seen, and a value with which it is seen otherwise than by default."""
EVERYTHING = (SUM, WINDOW, "SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k", "SELECT t.k FROM t JOIN r ON t.k = r.k")


@pytest.mark.parametrize("key", [each.key for each in OPTIONS.values() if not each.inert])
def test_changing_it_changes_something(key: str, tmp_path: Path) -> None:
    assert key in EFFECTS, "say what can be seen of it, or that it changes nothing (`inert`)"
    effect, value = EFFECTS[key]
    folders = [tmp_path / name for name in ("without", "with")]
    for each in folders:
        each.mkdir()
    before, after = effect(folders[0], {}), effect(folders[1], {key: value})
    texts = [str(seen).replace(str(each), "") for seen, each in zip((before, after), folders, strict=True)]
    assert texts[0] != texts[1]


@pytest.mark.parametrize(
    "option", [each for each in OPTIONS.values() if each.inert and not each.fixed], ids=lambda each: each.key
)
def test_those_that_are_said_to_change_nothing_change_nothing(option: ConfigOption, tmp_path: Path) -> None:
    """Neither what is planned nor how it runs; their values are checked all the same."""
    values = {"bool": ["true"], "int": ["7"], "duration": ["7 s"], "enum": list(option.choices), "text": ["x"]}
    for query in EVERYTHING:
        for value in values[option.kind]:
            assert decided(query)(tmp_path, {option.key: value}) == decided(query)(tmp_path, {})
            assert lowered(query, _sinks)(tmp_path, {option.key: value}) == lowered(query, _sinks)(tmp_path, {})
    if option.kind != "text":
        with pytest.raises(RekindleError):
            TableEnvironment.create({option.key: "no such value"})


@pytest.mark.parametrize("option", [each for each in OPTIONS.values() if each.fixed], ids=lambda each: each.key)
def test_those_of_one_value_refuse_any_other(option: ConfigOption) -> None:
    others = {"bool": ["true", "false"], "int": ["7"], "text": ["x"], "enum": list(option.choices)}[option.kind]
    configuration = Configuration()
    configuration.put(option.key, option.default)
    for value in others:
        if value != option.default:
            with pytest.raises(OptionError, match=f"the value '{value}' is not supported") as refused:
                configuration.put(option.key, value)
            assert refused.value.hint == option.description


def test_options_without_effect_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    configuration = Configuration()
    with caplog.at_level(logging.WARNING, logger="rekindle.options"):
        for value in ("auto", "forced", "none"):
            configuration.put("table.optimizer.skewed-join-optimization.strategy", value)
    assert [record.getMessage() for record in caplog.records] == [
        "option table.optimizer.skewed-join-optimization.strategy has no effect: Spark's optimizer orders and "
        "broadcasts the joins of a batch; those of a stream run as they are written."
    ]
