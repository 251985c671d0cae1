"""Configuration options: every key Rekindle knows, its type, default and meaning; names are Flink's where they fit."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as Tag

from execnodes.core import consent
from execnodes.core.errors import OptionError
from execnodes.core.flink_options import FAMILIES, FIXED, INERT, find_family
from execnodes.core.local_paths import PathError, parse_local_path
from execnodes.core.option_maps import parse_map
from execnodes.core.secrets import remember
from execnodes.core.zones import is_zone

_log = logging.getLogger("rekindle.options")
CONSENT = "table.plan.evolution.consent"
"""What losses of state are agreed to when a plan is compiled from another one."""
NON_TEMPORAL_SORT = "__table.exec.sort.non-temporal.enabled__"
"""Flink's own tests set it; the underscores are its."""


Kind = Tag["bool", "int", "duration", "size", "text", "enum", "zone", "uid-format", "map", "path"]
Scope = Tag["plan", "job", "run"]
"""What an option belongs to. A plan: what it decides is written into the nodes, or it has done its work when they are
made. A job: a plan keeps it as a default, which the session that runs it may set otherwise. A run: a session, a machine
or one start of a job; no plan keeps it."""
_UID_FORMAT = re.compile(r"(?:[\w.:-]|<id>|<type>|<version>|<operator>)+")
"""A uid becomes part of the names of folders."""


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """One option. `default` is the text a user would write."""

    key: str
    kind: Kind
    default: str
    description: str
    choices: tuple[str, ...] = ()
    fallback_keys: tuple[str, ...] = ()
    """Older names; still read."""
    inert: bool = False
    """Accepted, as programs and plans of Flink's have it, and changes nothing; the description says why."""
    scope: Scope = "plan"
    fixed: bool = False
    """Taken with its default alone; the description says what holds instead of another value."""

    def check(self, value: str) -> str:
        """The value in its canonical text; OptionError if it cannot be one."""
        text = self._canonical(value)
        if self.fixed and text != self.default:
            raise OptionError(f"{self.key}: the value {value!r} is not supported", hint=self.description)
        return text

    def _canonical(self, value: str) -> str:
        text = value.strip()
        if self.kind == "bool":
            if text.lower() not in ("true", "false"):
                raise self._bad(value, "true or false")
            return text.lower()
        if self.kind == "int":
            if not re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
                raise self._bad(value, "a whole number")
            return text
        if self.kind == "duration":
            parse_duration(text, self.key)
            return text
        if self.kind == "size":
            parse_size(text, self.key)
            return text
        if self.kind == "enum":
            if text.upper() not in {choice.upper() for choice in self.choices}:
                raise self._bad(value, "one of " + ", ".join(self.choices))
            return next(choice for choice in self.choices if choice.upper() == text.upper())
        if self.kind == "zone" and not is_zone(text):
            raise self._bad(value, "a time zone by name, such as UTC or Europe/Berlin")
        if self.kind == "map":
            parse_map(text, self.key)
        if self.kind == "path":
            return self._local(text)
        if self.kind == "uid-format" and (_UID_FORMAT.fullmatch(text) is None or ".." in text):
            raise self._bad(value, "letters, digits and _-.: around <id>, <type>, <version> and <operator>")
        return text

    def _local(self, text: str) -> str:
        """The local path that a path or a ``file:`` address names; PathError for another address."""
        try:
            return parse_local_path(text)
        except PathError as error:
            raise PathError(f"{self.key}: {error.message}", where=error.where, hint=error.hint) from error

    def _bad(self, value: str, expected: str) -> OptionError:
        return OptionError(f"{self.key}: {value!r} is not a value of this option", hint=f"Write {expected}.")


_UNITS = {
    "ns": 1e-6, "us": 1e-3, "ms": 1, "milli": 1, "millis": 1, "millisecond": 1, "milliseconds": 1,
    "": 1, "s": 1000, "sec": 1000, "secs": 1000, "second": 1000, "seconds": 1000,
    "m": 60_000, "min": 60_000, "mins": 60_000, "minute": 60_000, "minutes": 60_000,
    "h": 3_600_000, "hour": 3_600_000, "hours": 3_600_000, "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
}  # fmt: skip


LONGEST = 10**15
"""Milliseconds: some 31,000 years, so that no sum of times runs over."""


def parse_duration(text: str, key: str = "duration") -> int:
    """Milliseconds of a text such as ``4 d``, ``10 min`` or ``200`` (ms); OptionError for anything else."""
    match = re.fullmatch(r"\s*(\d{1,15})\s*([a-zA-Z]*)\s*", text, re.ASCII)
    if match is None or match[2].lower() not in _UNITS:
        raise OptionError(f"{key}: {text!r} is not a duration", hint="Write e.g. '4 d', '10 min', '200 ms'.")
    millis = int(int(match[1]) * _UNITS[match[2].lower()])
    if millis > LONGEST:
        raise OptionError(f"{key}: {text!r} is longer than {LONGEST} ms", hint="Write 0 for what never ends.")
    return millis


_BINARY_UNITS = {
    name: 1 << 10 * power
    for power, names in enumerate((
        ("", "b", "bytes"),
        ("k", "kb", "kibibytes"),
        ("m", "mb", "mebibytes"),
        ("g", "gb", "gibibytes"),
        ("t", "tb", "tebibytes"),
    ))
    for name in names
}  # fmt: skip


def parse_size(text: str, key: str) -> int:
    """Bytes of a text as Flink's MemorySize has it, ``4 mb`` or ``65536`` (bytes); OptionError for anything else."""
    match = re.fullmatch(r"(\d{1,15})\s*([a-zA-Z]*)", text, re.ASCII)
    if match is None or match[2].lower() not in _BINARY_UNITS:
        raise OptionError(f"{key}: {text!r} is not a size", hint="Write e.g. '4 mb', '64 kb', '65536'.")
    return int(match[1]) * _BINARY_UNITS[match[2].lower()]


def _option(
    key: str,
    kind: Kind,
    default: str,
    description: str,
    choices: tuple[str, ...] = (),
    fallback_keys: tuple[str, ...] = (),
    *,
    inert: bool = False,
    scope: Scope = "plan",
) -> ConfigOption:
    return ConfigOption(key, kind, default, description, choices, fallback_keys, inert, scope)


OPTIONS: Mapping[str, ConfigOption] = {
    option.key: option
    for option in (
        _option("execution.runtime-mode", "enum", "streaming", "How a pipeline runs.", ("streaming", "batch")),
        _option("parallelism.default", "int", "2", "Parallel tasks of each stateful stage.", scope="job"),
        _option(
            "pipeline.global-job-parameters", "map", "",
            "What functions of Python are told by FunctionContext.get_job_parameter: a:1,b:2.", scope="job",
        ),
        _option("pipeline.max-parallelism", "int", "8", "Key groups of each stateful operator, the most tasks it can use; written into the plan."),
        _option("pipeline.name", "text", "", "Name of the job; made from the sinks when empty.", scope="job"),
        _option(
            "pipeline.classes.allowed", "text", "",
            "Modules of Python that plans and savepoints may name classes of, separated by commas; those that functions of the session come from always may.", scope="run",
        ),
        _option(
            "pipeline.classes.python", "map", "",
            "Python functions that stand for the Java classes of CREATE FUNCTION: com.acme.Upper:my_functions.upper.",
        ),
        _option("execution.micro-batch.interval", "duration", "0 ms", "Shortest time from one micro-batch to the next.", scope="job"),
        _option(
            "execution.micro-batch.one-task-size", "size", "4 mb",
            "Micro-batches whose sources give at most so much run as one task, without exchanges; larger ones on all cores.", scope="job",
        ),
        _option("execution.micro-batch.max-files", "int", "0", "Most files a source reads in a batch; 0 for no bound.", scope="job"),
        _option("execution.micro-batch.max-rows", "int", "0", "Most rows a generator gives in a batch; 0 for no bound.", scope="job"),
        _option(
            "slot.request.timeout", "duration", "5 min",
            "How long a job waits on a cluster without any executor and without a running task; then it fails, and a streaming job starts again as its restart strategy says. 0 for no bound.",
            scope="job",
        ),
        _option("execution.job-dir", "path", "", "Where a job keeps its state and plan; a temporary one when empty.", scope="run"),
        _option(
            "execution.jobs-dir", "path", "",
            "Where jobs live that run in the background without a folder of their own; $REKINDLE_HOME/jobs or ~/.rekindle/jobs when empty.", scope="run",
        ),
        _option(
            "execution.checkpointing.savepoint-dir", "path", "", "Where STOP JOB … WITH SAVEPOINT puts savepoints.", (),
            ("execution.checkpointing.savepoint-directory", "state.savepoints.dir"), scope="run",
        ),
        _option("execution.state-recovery.path", "path", "", "Savepoint that the next job starts from.", scope="run"),
        _option(
            "restart-strategy.type", "enum", "exponential-delay",
            "When a streaming job starts again after a failure that may pass, such as a Python worker that was killed: from its last micro-batch.",
            ("none", "off", "disable", "fixed-delay", "exponential-delay"), ("restart-strategy",), scope="job",
        ),
        _option("restart-strategy.fixed-delay.attempts", "int", "1", "How often a job starts again.", scope="job"),
        _option("restart-strategy.fixed-delay.delay", "duration", "1 s", "Time from a failure to the next start.", scope="job"),
        _option("restart-strategy.exponential-delay.initial-backoff", "duration", "1 s", "Time from the first failure to the next start.", scope="job"),
        _option("restart-strategy.exponential-delay.max-backoff", "duration", "1 min", "The longest that this time becomes.", scope="job"),
        _option("restart-strategy.exponential-delay.backoff-multiplier", "text", "1.5", "What it is multiplied by after each failure.", scope="job"),
        _option(
            "restart-strategy.exponential-delay.reset-backoff-threshold", "duration", "1 h",
            "A job that has run so long without a failure begins with the first time, and counts attempts anew.", scope="job",
        ),
        _option(
            "restart-strategy.exponential-delay.jitter-factor", "text", "0.1",
            "The part of the time that is added or taken by chance, so that jobs do not start all at once.", scope="job",
        ),
        _option(
            "restart-strategy.exponential-delay.attempts-before-reset-backoff", "int", "10",
            "How often a job starts again before it counts anew; the next failure is its end. Flink has no bound unless one is set.", scope="job",
        ),
        _option(
            "execution.state-recovery.ignore-unclaimed-state", "bool", "false", "Drop state that no operator has.",
            scope="run",
        ),
        _option("execution.state-recovery.drop", "text", "", "States to drop: uid:name, separated by commas.", scope="run"),
        _option("table.local-time-zone", "zone", "UTC", "Session time zone, by name."),
        _option(
            "table.dml-sync", "bool", "true",
            "Wait for the end of an INSERT before the next statement; else it runs in the background. At the prompt the default is false, as in Flink.", scope="run",
        ),
        _option("table.exec.state.ttl", "duration", "0 ms", "How long idle state is kept; written into the plan."),
        _option(
            "table.exec.emit.allow-lateness", "duration", "0 ms",
            "How long after its end a window of GROUP BY TUMBLE or HOP (not SESSION, nor table functions) takes rows, and is updated.",
        ),
        _option(
            "table.exec.emit.early-fire.enabled", "bool", "false",
            "Such windows are given before their end, with each micro-batch that changes them.",
        ),
        _option("table.exec.emit.early-fire.delay", "duration", "0 ms", "A micro-batch gives a window once.", inert=True),
        _option(
            "table.exec.emit.late-fire.enabled", "bool", "false",
            "Late rows update a window with their micro-batch; lateness must be allowed.",
        ),
        _option("table.exec.emit.late-fire.delay", "duration", "0 ms", "A micro-batch gives a window once.", inert=True),
        _option(
            "table.exec.mini-batch.enabled", "bool", "false",
            "The first row of a key by event time is given at once, and replaced by an older one; a micro-batch is always a bundle.",
        ),
        _option("table.exec.mini-batch.size", "int", "-1", "A bundle has the rows of its micro-batch.", inert=True),
        _option(
            "table.exec.mini-batch.allow-latency", "duration", "0 ms",
            "A bundle ends with its micro-batch; execution.micro-batch.interval is for that.", inert=True,
        ),
        _option(
            NON_TEMPORAL_SORT, "bool", "false",
            "ORDER BY any column without LIMIT, where all sources end by themselves: rows come at the end of the input.",
        ),
        _option("table.exec.rank.topn-cache-size", "int", "10000", "State is read and written as columns.", inert=True),
        _option("pipeline.object-reuse", "bool", "false", "Rows are never copied between operators.", inert=True),
        _option(
            "table.exec.async-scalar.max-concurrent-operations", "int", "10",
            "Rows for which functions written as async def wait at a time, in each task.", (),
            ("table.exec.async-scalar.buffer-capacity",),
        ),
        _option(
            "table.exec.async-scalar.timeout", "duration", "3 min",
            "How long such a function may take for a row, all attempts together; 0 for no bound.",
        ),
        _option(
            "table.exec.async-scalar.retry-strategy", "enum", "FIXED_DELAY", "Whether it is called again for a row for which it has failed.",
            ("NO_RETRY", "FIXED_DELAY"),
        ),
        _option("table.exec.async-scalar.retry-delay", "duration", "100 ms", "Time before it is called again."),
        _option("table.exec.async-scalar.max-attempts", "int", "3", "How often it is called again before the job fails."),
        _option("table.exec.sink.not-null-enforcer", "enum", "ERROR", "NULL for a NOT NULL column.", ("ERROR", "DROP")),
        _option(
            "table.exec.sink.type-length-enforcer", "enum", "IGNORE", "Texts longer than declared.",
            ("IGNORE", "TRIM_PAD", "ERROR"),
        ),
        _option(
            "table.exec.sink.upsert-materialize", "enum", "AUTO", "Bring updates into the sink key's order.",
            ("NONE", "AUTO", "FORCE"),
        ),
        _option("table.exec.sink.require-on-conflict", "bool", "true", "Refuse a sink key that is not the query's key."),
        _option(
            "table.exec.source.time-precision-enforcer", "enum", "ERROR",
            "Columns declared as TIMESTAMP(7) to (9) that are read: refused, or cut to microseconds, which Spark keeps.",
            ("ERROR", "TRIM"),
        ),
        _option("table.exec.source.cdc-events-duplicate", "bool", "false", "Put a changelog normalize behind sources."),
        _option("table.exec.source.idle-timeout", "duration", "0 ms", "When a silent source no longer holds watermarks."),
        _option(
            "table.exec.lateness.granularity", "enum", "batch", "What a row's lateness is judged by.", ("batch", "row"),
            ("table.exec.watermark.granularity",),
        ),
        _option("table.exec.uid.format", "uid-format", "<id>_<operator>", "Form of an operator's uid."),
        _option(
            "table.optimizer.agg-phase-strategy", "enum", "AUTO", "Local and global aggregation.",
            ("AUTO", "ONE_PHASE", "TWO_PHASE"),
        ),
        _option(
            "table.optimizer.distinct-agg.split.enabled", "bool", "false",
            "GROUP BY with DISTINCT in parts of groups, so that the rows of one key go to several tasks. It takes COUNT, SUM, AVG, MIN and MAX; state has another shape with it than without.",
        ),
        _option(
            "table.optimizer.distinct-agg.split.bucket-num", "int", "1024",
            "Parts of a group, by the hash of its DISTINCT column; written into the plan.",
        ),
        _option(
            "table.optimizer.incremental-agg-enabled", "bool", "true",
            "Parts of groups send what is added to accumulators; else they send their results, and AVG is not split.",
        ),
        _option(
            "table.optimizer.non-deterministic-update.strategy", "enum", "IGNORE",
            "TRY_RESOLVE refuses streaming queries that find updated rows by what may differ when it is computed again: NOW(), RAND(), metadata of a changelog source.",
            ("IGNORE", "TRY_RESOLVE"),
        ),
        _option("table.optimizer.multi-join.enabled", "bool", "false", "Joins are joined two by two.", inert=True),
        _option("table.optimizer.reuse-sub-plan-enabled", "bool", "true", "Run equal parts of a pipeline once."),
        _option(
            "table.plan.compile.catalog-objects", "enum", "ALL", "What of a table goes into the plan.",
            ("ALL", "SCHEMA", "IDENTIFIER"),
        ),
        _option(
            "table.plan.restore.catalog-objects", "enum", "ALL", "Where a restored plan takes tables from.",
            ("ALL", "ALL_ENFORCED", "IDENTIFIER"), scope="run",
        ),
        _option("table.plan.restore.enrich-table-options", "bool", "true", "Merge options of the catalog's table in.", scope="run"),
        _option(
            "table.plan.force-recompile", "bool", "false", "COMPILE PLAN replaces an existing file.", (),
            ("table.plan.restore.force-recompile",),
        ),
        _option(
            CONSENT, "enum", "await_approval",
            "State that is lost when a query is changed: ask, allow it, or reject it (docs/query-evolution.md).",
            ("await_approval", "allow", "reject"),
        ),
        _option(
            "table.plan.evolution.bootstrap", "text", "",
            "Operators whose state will be made before a changed query starts (rekindle bootstrap): uids, separated by commas.",
        ),
        _option(
            "table.plan.evolution.map", "text", "",
            "Tables that a changed query knows by other names, or whose data lies elsewhere now: old=new, separated by commas.",
        ),
        _option("table.sql-dialect", "enum", "default", "Only Flink's default dialect.", ("default",)),
        _option(
            "sql-client.execution.result-mode", "enum", "tableau", "Results are shown as they come, with their kinds of row.",
            ("table", "changelog", "tableau"), inert=True,
        ),
    )
} | {
    key: ConfigOption(key, option.kind, option.default, why, option.choices, inert=True, fixed=groups is FIXED)
    for groups in (INERT, FIXED)
    for why, group in groups.items()
    for key, option in group.items()
}  # fmt: skip
_BY_FALLBACK = {old: option for option in OPTIONS.values() for old in option.fallback_keys}
_EFFECTIVE = tuple(key for key, option in OPTIONS.items() if not option.inert)
_MISSPELT = 0.92
"""How much alike an unknown key and one of `_EFFECTIVE` are, from 0 to 1, for it to be a slip of the hand."""
SPARK_PREFIX = "spark."


class Configuration(dict[str, str]):
    """Options that were set, by canonical key; `get_option` adds defaults."""

    def put(self, key: str, value: str) -> None:
        """Set an option; OptionError for an unknown key or a bad value. Keys in ``spark.`` go to the Spark session."""
        if key.startswith(SPARK_PREFIX):
            remember({key: value})
            self[key] = value
            return
        option = find(key)
        if (family := _family_of(key)) is not None:
            if not any(_family_of(other) == family for other in self):
                _log.warning("option %s has no effect: %s", key, option.description)
        elif option.inert and self.get_option(key) == option.default != option.check(value):
            _log.warning("option %s has no effect: %s", key, option.description)
        elif option.key != key:
            _log.warning("option %s is called %s now; the old name goes on working", key, option.key)
        self[option.key] = option.check(value)
        if option.key == consent.OPTION:
            # Holds for the process, wherever in it a class is asked for.
            consent.grant(value.split(","))

    def get_option(self, key: str) -> str:
        """The value in force."""
        return self.get(key, OPTIONS[key].default)

    def job_options(self) -> dict[str, str]:
        """Options that a plan keeps as defaults of its job."""
        return {key: value for key, value in sorted(self.items()) if _scope_of(key) == "job"}

    def unkept_keys(self) -> tuple[str, ...]:
        """Keys of options that have an effect and that no plan keeps: those of a run, and Spark's."""
        return tuple(key for key in sorted(self) if _scope_of(key) == "run")

    def flag(self, key: str) -> bool:
        """Of a bool option."""
        return self.get_option(key) == "true"

    def number(self, key: str) -> int:
        """Of an int option."""
        return int(self.get_option(key))

    def millis(self, key: str) -> int:
        """Of a duration option, in milliseconds."""
        return parse_duration(self.get_option(key), key)

    def bytes(self, key: str) -> int:
        """Of a size option."""
        return parse_size(self.get_option(key), key)


def _scope_of(key: str) -> Scope:
    return "run" if key.startswith(SPARK_PREFIX) else find(key).scope


def _family_of(key: str) -> str | None:
    """The family of Flink's options that a key belongs to which is not one of our own."""
    return None if key in OPTIONS or key in _BY_FALLBACK else find_family(key)


def find(key: str) -> ConfigOption:
    """The option of that key or fallback key; OptionError with the nearest names if there is none.

    Any key of a family of Flink's options is one that changes nothing, unless it is an own one misspelt.
    """
    option = OPTIONS.get(key) or _BY_FALLBACK.get(key)
    if option is not None:
        return option
    import difflib

    family = find_family(key)
    if family is not None and not difflib.get_close_matches(key, _EFFECTIVE, n=1, cutoff=_MISSPELT):
        return _option(key, "text", "", FAMILIES[family], inert=True)
    near = difflib.get_close_matches(key, OPTIONS, n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else "SET without arguments lists all options."
    raise OptionError(f"unknown option {key!r}", hint=hint)
