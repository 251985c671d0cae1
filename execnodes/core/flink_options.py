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
