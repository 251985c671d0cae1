"""Options of Flink that a program may have and that change nothing here; each says why.

Keys, kinds and defaults are those of Flink 2.3 (its pages on configuration of the Table API).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Default = tuple[Literal["bool", "int", "text"], str]
"""Kind and default."""

INERT: Mapping[str, Mapping[str, Default]] = {
    "Spark's memory settings are what there is to set.": {
        "table.exec.resource.external-buffer-memory": ("text", "10 mb"),
        "table.exec.resource.hash-agg.memory": ("text", "128 mb"),
        "table.exec.resource.hash-join.memory": ("text", "128 mb"),
        "table.exec.resource.sort.memory": ("text", "128 mb"),
        "table.exec.window-agg.buffer-size-limit": ("int", "100000"),
        "table.exec.sort.max-num-file-handles": ("int", "128"),
        "table.exec.sort.async-merge-enabled": ("bool", "true"),
        "table.exec.spill-compression.enabled": ("bool", "true"),
        "table.exec.spill-compression.block-size": ("text", "64 kb"),
    },
    "parallelism.default holds for all operators.": {
        "table.exec.resource.default-parallelism": ("int", "-1"),
    },
    "Operators are called as their uids say.": {
        "table.exec.simplify-operator-name-enabled": ("bool", "true"),
    },
    "Spark generates code where it can.": {
        "table.exec.operator-fusion-codegen.enabled": ("bool", "false"),
        "table.exec.local-hash-agg.adaptive.enabled": ("bool", "true"),
        "table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold": ("text", "0.5"),
        "table.exec.local-hash-agg.adaptive.sampling-threshold": ("int", "500000"),
    },
    "State is read and written by pages, many keys at a time.": {
        "table.exec.async-state.enabled": ("bool", "false"),
        "table.exec.deduplicate.mini-batch.compact-changes-enabled": ("bool", "false"),
        "table.exec.unbounded-over.version": ("int", "2"),
    },
    "Spark's optimizer orders and broadcasts the joins of a batch; those of a stream run as they are written.": {
        "table.optimizer.join-reorder-enabled": ("bool", "false"),
        "table.optimizer.join.broadcast-threshold": ("int", "1048576"),
        "table.optimizer.bushy-join-reorder-threshold": ("int", "12"),
        "table.optimizer.multiple-input-enabled": ("bool", "true"),
        "table.optimizer.dynamic-filtering.enabled": ("bool", "true"),
        "table.optimizer.runtime-filter.enabled": ("bool", "false"),
        "table.optimizer.source.report-statistics-enabled": ("bool", "true"),
    },
    "Equal parts of a plan are found by what they are.": {
        "table.optimizer.reuse-source-enabled": ("bool", "true"),
        "table.optimizer.reuse-sink-enabled": ("bool", "false"),
        "table.optimizer.reuse-optimize-block-with-digest-enabled": ("bool", "false"),
        "table.optimizer.union-all-as-breakpoint-enabled": ("bool", "true"),
    },
}
"""Why, to the options that change nothing for that reason."""

_CHECKPOINTS = (
    "Each micro-batch is a checkpoint, kept in execution.job-dir; execution.micro-batch.interval spaces them."
)
_STATE = (
    "State is kept in execution.job-dir, in Spark's state stores; options in spark.sql.streaming.stateStore set them."
)
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
