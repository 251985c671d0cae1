"""Options of Flink that a program may have and that change nothing here; each says why.

Keys, kinds and defaults are those of Flink 2.3 (its pages on configuration of the Table API).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class FlinkOption:
    """Kind and default of an option, and its values if they are an enumeration."""

    kind: Literal["bool", "int", "duration", "text", "enum"]
    default: str
    choices: tuple[str, ...] = ()


def _enum(*choices: str) -> FlinkOption:
    """An enumeration whose first value is the default."""
    return FlinkOption("enum", choices[0], choices)


_OUTPUT_MODES = ("ORDERED", "ALLOW_UNORDERED")

INERT: Mapping[str, Mapping[str, FlinkOption]] = {
    "Spark's memory settings are what there is to set.": {
        "table.exec.resource.external-buffer-memory": FlinkOption("text", "10 mb"),
        "table.exec.resource.hash-agg.memory": FlinkOption("text", "128 mb"),
        "table.exec.resource.hash-join.memory": FlinkOption("text", "128 mb"),
        "table.exec.resource.sort.memory": FlinkOption("text", "128 mb"),
        "table.exec.window-agg.buffer-size-limit": FlinkOption("int", "100000"),
        "table.exec.sort.max-num-file-handles": FlinkOption("int", "128"),
        "table.exec.sort.async-merge-enabled": FlinkOption("bool", "true"),
        "table.exec.spill-compression.enabled": FlinkOption("bool", "true"),
        "table.exec.spill-compression.block-size": FlinkOption("text", "64 kb"),
    },
    "parallelism.default holds for all operators.": {
        "table.exec.resource.default-parallelism": FlinkOption("int", "-1"),
    },
    "Operators are called as their uids say.": {
        "table.exec.simplify-operator-name-enabled": FlinkOption("bool", "true"),
    },
    "Spark generates code where it can.": {
        "table.exec.operator-fusion-codegen.enabled": FlinkOption("bool", "false"),
        "table.exec.local-hash-agg.adaptive.enabled": FlinkOption("bool", "true"),
        "table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold": FlinkOption("text", "0.5"),
        "table.exec.local-hash-agg.adaptive.sampling-threshold": FlinkOption("int", "500000"),
        "table.generated-code.max-length": FlinkOption("int", "4000"),
        "table.generated-code.max-members": FlinkOption("int", "10000"),
    },
    "State is read and written as columns, many keys at a time.": {
        "table.exec.async-state.enabled": FlinkOption("bool", "false"),
        "table.exec.deduplicate.mini-batch.compact-changes-enabled": FlinkOption("bool", "false"),
        "table.exec.unbounded-over.version": FlinkOption("int", "2"),
        "table.exec.interval-join.min-cleanup-interval": FlinkOption("duration", "0 ms"),
        "table.exec.sink.upsert-materialize-strategy.type": _enum("LEGACY", "MAP", "VALUE", "ADAPTIVE"),
        "table.exec.sink.upsert-materialize-strategy.adaptive.threshold.high": FlinkOption("text", ""),
        "table.exec.sink.upsert-materialize-strategy.adaptive.threshold.low": FlinkOption("text", ""),
    },
    "Spark's optimizer orders and broadcasts the joins of a batch; those of a stream run as they are written.": {
        "table.optimizer.join-reorder-enabled": FlinkOption("bool", "false"),
        "table.optimizer.join.broadcast-threshold": FlinkOption("int", "1048576"),
        "table.optimizer.bushy-join-reorder-threshold": FlinkOption("int", "12"),
        "table.optimizer.multiple-input-enabled": FlinkOption("bool", "true"),
        "table.optimizer.dynamic-filtering.enabled": FlinkOption("bool", "true"),
        "table.optimizer.runtime-filter.enabled": FlinkOption("bool", "false"),
        "table.optimizer.runtime-filter.max-build-data-size": FlinkOption("text", "150 mb"),
        "table.optimizer.runtime-filter.min-filter-ratio": FlinkOption("text", "0.5"),
        "table.optimizer.runtime-filter.min-probe-data-size": FlinkOption("text", "10 gb"),
        "table.optimizer.source.report-statistics-enabled": FlinkOption("bool", "true"),
        "table.optimizer.adaptive-broadcast-join.strategy": _enum("auto", "runtime_only", "none"),
        "table.optimizer.skewed-join-optimization.strategy": _enum("auto", "forced", "none"),
        "table.optimizer.skewed-join-optimization.skewed-factor": FlinkOption("text", "4.0"),
        "table.optimizer.skewed-join-optimization.skewed-threshold": FlinkOption("text", "256 mb"),
        "table.optimizer.sql2rel.project-merge.enabled": FlinkOption("bool", "false"),
        "table.exec.disabled-operators": FlinkOption("text", ""),
    },
    "Equal parts of a plan are found by what they are.": {
        "table.optimizer.reuse-source-enabled": FlinkOption("bool", "true"),
        "table.optimizer.reuse-sink-enabled": FlinkOption("bool", "false"),
        "table.optimizer.reuse-optimize-block-with-digest-enabled": FlinkOption("bool", "false"),
        "table.optimizer.union-all-as-breakpoint-enabled": FlinkOption("bool", "true"),
    },
    "Both sides of a join are kept in state, whatever their sources could look up.": {
        "table.optimizer.delta-join.strategy": _enum("AUTO", "FORCE", "NONE"),
        "table.exec.delta-join.cache-enabled": FlinkOption("bool", "true"),
        "table.exec.delta-join.left.cache-size": FlinkOption("int", "10000"),
        "table.exec.delta-join.right.cache-size": FlinkOption("int", "10000"),
    },
    "Connectors look up no rows, so that no lookup waits.": {
        "table.exec.async-lookup.buffer-capacity": FlinkOption("int", "100"),
        "table.exec.async-lookup.key-ordered-enabled": FlinkOption("bool", "false"),
        "table.exec.async-lookup.output-mode": _enum(*_OUTPUT_MODES),
        "table.exec.async-lookup.timeout": FlinkOption("duration", "3 min"),
    },
    "Models, vector searches and process table functions are not supported.": {
        "table.exec.async-ml-predict.max-concurrent-operations": FlinkOption("int", "10"),
        "table.exec.async-ml-predict.output-mode": _enum(*_OUTPUT_MODES),
        "table.exec.async-ml-predict.timeout": FlinkOption("duration", "3 min"),
        "table.exec.async-vector-search.max-concurrent-operations": FlinkOption("int", "10"),
        "table.exec.async-vector-search.output-mode": _enum(*_OUTPUT_MODES),
        "table.exec.async-vector-search.timeout": FlinkOption("duration", "3 min"),
        "table.optimizer.ptf.max-tables": FlinkOption("int", "20"),
    },
    "Table functions are called row by row; table.exec.async-scalar is for functions that wait.": {
        "table.exec.async-table.max-concurrent-operations": FlinkOption("int", "10"),
        "table.exec.async-table.max-retries": FlinkOption("int", "3"),
        "table.exec.async-table.retry-delay": FlinkOption("duration", "100 ms"),
        "table.exec.async-table.retry-strategy": _enum("FIXED_DELAY", "NO_RETRY"),
        "table.exec.async-table.timeout": FlinkOption("duration", "3 min"),
    },
    "Rows of a key reach a sink in order; sinks are handed columns, not the time of a record.": {
        "table.exec.sink.keyed-shuffle": _enum("AUTO", "NONE", "FORCE"),
        "table.exec.sink.rowtime-inserter": _enum("ENABLED", "DISABLED"),
    },
    "All stateful operators have uids.": {
        "table.exec.uid.generation": _enum("PLAN_ONLY", "ALWAYS", "DISABLED"),
    },
}
"""Why, to the options that change nothing for that reason."""

FIXED: Mapping[str, Mapping[str, FlinkOption]] = {
    "CAST fails where a value cannot be cast, as in Flink since 1.15. TRY_CAST gives NULL.": {
        "table.exec.legacy-cast-behaviour": _enum("DISABLED", "ENABLED"),
    },
    "Fields of a ROW that can be NULL are nullable, as in Flink since 2.2.": {
        "table.legacy-nested-row-nullability": FlinkOption("bool", "false"),
    },
    "NOT NULL and lengths of a sink's columns are held, not those of fields in a ROW or of members.": {
        "table.exec.sink.nested-constraint-enforcer": _enum("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"),
    },
    "Batch mode sorts all rows. Write LIMIT in the query.": {
        "table.exec.sort.default-limit": FlinkOption("int", "-1"),
    },
    "The first row of a key is an insert.": {
        "table.exec.deduplicate.insert-update-after-sensitive-enabled": FlinkOption("bool", "true"),
    },
    "A table of CREATE TABLE AS is there before its rows. DROP it if its job fails.": {
        "table.rtas-ctas.atomicity-enabled": FlinkOption("bool", "false"),
    },
    "`*` is all columns. Name those that are wanted.": {
        "table.column-expansion-strategy": FlinkOption("text", ""),
    },
    "OPTIONS hints are allowed in every query.": {
        "table.dynamic-table-options.enabled": FlinkOption("bool", "true"),
    },
    "The first catalog is called default_catalog. Use CREATE CATALOG and USE for another one.": {
        "table.builtin-catalog-name": FlinkOption("text", "default_catalog"),
        "table.builtin-database-name": FlinkOption("text", "default_database"),
    },
    "Catalogs and secrets are kept as docs/catalogs.md says.": {
        "table.catalog-store.kind": FlinkOption("text", "generic_in_memory"),
        "table.secret-store.kind": FlinkOption("text", "generic_in_memory"),
    },
}
"""Options of Flink that are taken with their default alone: any other value would give other rows or tables."""

_CHECKPOINTS = (
    "Each micro-batch is a checkpoint, kept in execution.job-dir; execution.micro-batch.interval spaces them."
)
_STATE = "State is kept in execution.job-dir, as columnar files that are never changed."
_CLUSTER = "Spark's cluster runs the job; options in spark. set it."
_WATERMARKS = "Watermarks move with each micro-batch."
_JARS = "Spark loads jars: SET 'spark.jars' or 'spark.jars.packages' before the first job."
_PYTHON = "Functions are imported from the Python path of the session, by the Python that runs it."
_CLIENT = "Rows are printed as they come, at their own width."

FAMILIES: Mapping[str, str] = {
    "execution.checkpointing.": _CHECKPOINTS,
    "state.checkpoints.": _CHECKPOINTS,
    "state.checkpoint-storage": _CHECKPOINTS,
    "state.": _STATE,
    "execution.state-recovery.claim-mode": "A savepoint is only read; it stays as it is.",
    "execution.savepoint-restore-mode": "A savepoint is only read; it stays as it is.",
    "execution.state-recovery.": _STATE,
    "execution.async-state.": _STATE,
    "pipeline.auto-watermark-interval": _WATERMARKS,
    "pipeline.watermark-alignment.": _WATERMARKS,
    "pipeline.jars": _JARS,
    "pipeline.classpaths": _JARS,
    "yarn.ship-files": _JARS,
    **dict.fromkeys(
        (
            "pipeline.auto-generate-uids",
            "pipeline.cached-files",
            "pipeline.cep.",
            "pipeline.closure-cleaner-level",
            "pipeline.default-kryo-serializers",
            "pipeline.force-",
            "pipeline.generic-types",
            "pipeline.jobvertex-parallelism-overrides",
            "pipeline.operator-chaining",
            "pipeline.registered-",
            "pipeline.serialization-config",
            "pipeline.sources.",
            "pipeline.vertex-",
        ),
        "Spark serializes rows and lays out tasks.",
    ),
    "python.": _PYTHON,
    "table.resources.": _JARS,
    "sql-client.": _CLIENT,
    "table.display.": _CLIENT,
    "table.catalog-modification.listeners": "No listener is called when a catalog changes.",
    **dict.fromkeys(("materialized-table.", "workflow-scheduler."), "Materialized tables are not supported."),
    "sql-gateway.": "`rekindle sql` runs statements itself; the package has no gateway.",
    **dict.fromkeys(
        (
            "execution.allow-client-job-configurations",
            "execution.attached",
            "execution.batch-",
            "execution.batch.",
            "execution.buffer-timeout",
            "execution.job-listeners",
            "execution.job-status-changed-listeners",
            "execution.program-config.",
            "execution.shutdown-on-",
            "execution.sort-",
            "execution.sorted-inputs.",
            "execution.submit-failed-",
            "execution.target",
            "execution.terminate-application-",
        ),
        "A job goes by Rekindle's own settings: execution.micro-batch and restart-strategy.",
    ),
    "parallelism.": "parallelism.default holds for all operators.",
    **dict.fromkeys(
        (
            "blob.",
            "classloader.",
            "client.",
            "cluster.",
            "env.",
            "fs.",
            "heartbeat.",
            "high-availability.",
            "historyserver.",
            "io.",
            "jobmanager.",
            "jobstore.",
            "job-event.",
            "kubernetes.",
            "metrics.",
            "pekko.",
            "plugin.",
            "queryable-state.",
            "resourcemanager.",
            "rest.",
            "s3.",
            "security.",
            "slot.",
            "slotmanager.",
            "task.",
            "taskmanager.",
            "traces.",
            "web.",
            "yarn.",
            "$internal.",
        ),
        _CLUSTER,
    ),
}
"""Beginnings of keys of Flink's runtime, SQL client and PyFlink: what has their effect here. The first one holds."""


def find_family(key: str) -> str | None:
    """Return the beginning that names the family of Flink's options which a key belongs to; None if it does not."""
    return next((family for family in FAMILIES if key.startswith(family)), None)
