"""Runs program folders through their compiled plans and judges the rows that reach the sinks."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError, PlanError, RekindleError
from execnodes.core.tables import Schema
from execnodes.core.words import counted
from rekindle.results.json_values import row_to_json
from rekindle.testing.compare import compare
from rekindle.testing.cut import MicroBatches, Pieces, cut_program
from rekindle.testing.materialize import Materialized, Message, canonical, materialize
from rekindle.testing.programs import Mode, Program
from rekindle.testing.redirect import Redirected, redirect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rekindle.api.table_environment import TableEnvironment
    from rekindle.results.compiled_plan import CompiledPlan
    from rekindle.runtime.job import Job

QUICK: Mapping[str, str] = {"parallelism.default": "1"}
"""Programs are small."""
MODES: Mapping[Mode, Mapping[str, str]] = {
    Mode.DEFAULT: {},
    Mode.ROW: {"table.exec.lateness.granularity": "row"},
    Mode.BATCH: {"execution.runtime-mode": "batch"},
}
"""Options that a mode sets; a program's own SETs win."""


class Outcome(StrEnum):
    """What a program came to."""

    PASSED = "PASS"
    FAILED = "FAIL"
    UNSUPPORTED = "UNSUPPORTED"
    """Refused when it was compiled, although its rows are known."""


@dataclass(frozen=True)
class Assessment:
    """An outcome and why."""

    outcome: Outcome
    detail: tuple[str, ...] = ()
    """The refusal, or the first rows that differ."""


@dataclass(frozen=True)
class Result:
    """A program that was run."""

    program: Program
    verdict: Assessment
    seconds: float


@dataclass(frozen=True)
class Settings:
    """How programs are run."""

    configuration: Mapping[str, str] = field(default_factory=dict)
    """Options on top of `QUICK` and those of the mode."""
    mode: Mode | None = None
    """None: as users run it, but programs with a late row by rows."""
    parallel: int = 2
    """Programs at a time."""
    round_trip: bool = False
    """Whether to check that a plan that is read and written again is the same."""
    timeout: float = 300.0
    """Seconds a program may run."""
    cut: int = 1
    """Pieces of each program's input, with a savepoint and a restore between them."""
    micro_batches: MicroBatches | None = None
    """How its files, or pieces of them, fall into micro-batches; None: each file in one."""

    def options(self, program: Program) -> dict[str, str]:
        """What a program is run with, but for what it sets itself."""
        return {**QUICK, **MODES[self.mode or program.mode], **self.configuration}


def run_programs(
    programs: Sequence[Program],
    settings: Settings,
    report: Callable[[Result], None] = lambda result: None,
    spark: SparkSession | None = None,
) -> list[Result]:
    """Run all programs in one Spark session (a new one if none is given); `report` is told each result, in order."""
    from rekindle.spark.session import SMALL_PROGRAMS, session

    shared = spark or session(settings=SMALL_PROGRAMS)

    def run(program: Program) -> Result:
        started = time.perf_counter()
        verdict = judge(program, settings, shared)
        return Result(program, verdict, time.perf_counter() - started)

    results = []
    with ThreadPoolExecutor(max(1, settings.parallel)) as pool:
        for result in pool.map(run, programs):
            report(result)
            results.append(result)
    return results


def judge(program: Program, settings: Settings, spark: SparkSession) -> Assessment:
    """Run one program; whatever goes wrong is a verdict, so that the others still run."""
    try:
        return _judge(program, settings, spark)
    except Exception as error:  # noqa: BLE001
        return Assessment(Outcome.FAILED, (f"{type(error).__name__}: {error}",))


def _judge(program: Program, settings: Settings, spark: SparkSession) -> Assessment:
    from rekindle.api.table_environment import TableEnvironment

    environment = TableEnvironment.create(settings.options(program), spark=spark)
    try:
        pieces = cut_program(program, settings.cut, settings.micro_batches)
        plan = environment.compile_script(pieces.sql if pieces is not None else program.sql)
    except RekindleError as error:
        return refused(program, error, at_compile=True)
    problem = _round_trip(plan) if settings.round_trip else None
    if problem is not None:
        return Assessment(Outcome.FAILED, (problem,))
    try:
        with pieces or nullcontext():
            sinks = execute(plan, environment, spark, settings.timeout, pieces)
    except RekindleError as error:
        return refused(program, error, at_compile=False)
    if program.refusal is not None and not program.judged:
        return Assessment(Outcome.FAILED, (f"it was answered, but must be refused: {_first_line(program.refusal)}",))
    return compared(program, sinks)


def refused(program: Program, error: RekindleError, *, at_compile: bool) -> Assessment:
    """The verdict on a program that Rekindle refuses."""
    text = tuple(str(error).splitlines())
    if program.refusal is not None:
        return Assessment(Outcome.PASSED, text)
    # A plan that its own planner made must load and run: that is a defect, whatever the program.
    unsupported = at_compile and program.judged and not isinstance(error, PlanError)
    return Assessment(Outcome.UNSUPPORTED if unsupported else Outcome.FAILED, text)


@dataclass(frozen=True)
class SinkRows:
    """What reached one table."""

    schema: Schema
    messages: tuple[Message, ...]
    key: tuple[int, ...] | None = None
    """Columns that tell its rows apart, see `CollectedSink`."""

    def materialized(self) -> Materialized:
        """Its final rows."""
        return materialize(self.messages, self.key)


def execute(
    plan: CompiledPlan,
    environment: TableEnvironment,
    spark: SparkSession,
    timeout: float,
    pieces: Pieces | None = None,
) -> dict[str, SinkRows]:
    """Run a plan with its sinks collected: table name to rows; RekindleError if it cannot be run."""
    from plans.format.codec import encode
    from rekindle.connectors.collect import clear, results
    from rekindle.runtime.batch_job import job_of

    redirected = redirect(plan.graph, environment.tables, f"test-{uuid.uuid4().hex}")
    try:
        for number in range(pieces.count if pieces is not None else 1):
            graph, configuration, target = redirected.graph, environment.configuration, None
            if pieces is not None:
                graph, configuration, target = pieces.begin(number, graph, configuration)
            functions = environment.functions_of(graph)
            job = job_of(graph, encode(graph), configuration, spark=spark, functions=functions, savepoint_at_end=target)
            run_to_end(job, timeout)
        return collected(redirected, results)
    finally:
        for sink in redirected.sinks:
            clear(sink.collected)


def run_to_end(job: Job, timeout: float) -> None:
    """Start a job and wait for its end; JobError if it has not come after so many seconds."""
    if not job.start().wait(timeout):
        job.stop()
        raise JobError(f"it has not ended after {timeout:g} s")


def collected(
    redirected: Redirected, results: Callable[[str], list[tuple[int, tuple[object, ...]]]]
) -> dict[str, SinkRows]:
    """What reached each table of a plan that has run; `results` by the name that rows are kept under."""
    found: dict[str, SinkRows] = {}
    for sink in redirected.sinks:
        types = [column.data_type for column in sink.schema.writable]
        messages = [Message(RowKind(kind), row_to_json(row, types)) for kind, row in results(sink.collected)]
        before = found[sink.table].messages if sink.table in found else ()
        found[sink.table] = SinkRows(sink.schema, (*before, *messages), sink.key)
    return found


def compared(program: Program, sinks: Mapping[str, SinkRows]) -> Assessment:
    """Types and rows of every sink against the folder's files."""
    detail: list[str] = []
    for name, sink in sinks.items():
        detail += [f"{name}: {line}" for line in _sink_problems(program, name, sink)]
    return Assessment(Outcome.FAILED if detail else Outcome.PASSED, tuple(detail))


def _sink_problems(program: Program, name: str, sink: SinkRows) -> Iterable[str]:
    types = {column.name: str(column.data_type.regular()) for column in sink.schema.writable}
    declared = program.schema(name)
    if declared is not None and dict(declared) != types:
        wrong = {key: (declared.get(key), types.get(key)) for key in {**declared, **types}}
        yield from (f"column {key} is {ours}, not {theirs}" for key, (theirs, ours) in wrong.items() if ours != theirs)
    expected = program.expected(name)
    if expected is None:
        yield "the folder does not say which rows to expect"
        return
    found = sink.materialized()
    if found.missing:
        yield f"{counted(len(found.missing), 'retraction')} of rows that are not there"
        yield from (f"{each.kind.short} {canonical(each.row)}" for each in found.missing[:5])
    difference = compare(expected, found.rows)
    if difference:
        yield from difference.lines()


def _round_trip(plan: CompiledPlan) -> str | None:
    from plans.format.codec import encode
    from plans.format.load import load

    text = plan.as_json_string()
    return None if encode(load(text)) == text else "its plan, read and written again, is another text"


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("stage:")]
    return (lines or [text])[0][:200]
