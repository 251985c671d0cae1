"""From a plan and a job's folder to what is to run: checks, settings, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from execnodes.core.graph import ExecGraph
from execnodes.core.option_maps import parse_map
from execnodes.core.options import SPARK_PREFIX, Configuration
from rekindle.connectors.secret_references import resolve_secrets
from rekindle.files.atomic_file import write_atomically
from rekindle.files.job_folder import JobFolder
from rekindle.files.json_files import Count, read_json
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.functions import ArrowFunction, functions_of_spark, register_functions, supply_functions
from rekindle.pipeline.guards import guard
from rekindle.pipeline.lookups import Lookups
from rekindle.pipeline.page_layouts import page_layouts, supply_layouts
from rekindle.pipeline.record import Record, record
from rekindle.pipeline.resolved import resolved_text
from rekindle.pipeline.state_layout import check_layout, keep_layout, layout_of
from rekindle.savepoints.recovery import recover
from rekindle.spark.session import prepare, refuse_other_meaning, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from execnodes.user_functions.loading import Definition
    from rekindle.connectors.data_stream import DataStream
    from rekindle.savepoints.restore import Restore


_COUNT = TypeAdapter(Count)


@dataclass(frozen=True)
class Order:
    """What is to run, where, and with what."""

    graph: ExecGraph
    folder: JobFolder
    configuration: Configuration
    spark: SparkSession | None
    """A session that was given; None for one of our own."""
    data_streams: Mapping[str, DataStream]
    """By uid."""
    functions: Mapping[str, Definition]
    """Those of the user that the plan calls, by their names in it."""


def taken_up(order: Order) -> tuple[Record, Restore | None]:
    """What a plan runs in its folder, which has been checked, and the savepoint whose rows the folder still lacks.

    RekindleError if the folder does not fit the plan; it is as it was then.
    """
    graph, folder = order.graph, order.folder
    folder.check_logs()
    pages = page_layouts(folder, graph)
    recorded = guard(record(graph))
    supply_functions(recorded.steps.values(), order.functions, job_parameters(order.configuration))
    layout = layout_of(graph, recorded.steps.values())
    check_layout(folder, layout, pages.changed)
    supply_layouts(recorded.steps.values(), pages.conversions)
    pages.keep(folder)
    write_atomically(folder.resolved_file, resolved_text(graph), replace=True, private=True)
    restore = recover(folder, order.configuration, graph)
    keep_layout(folder, layout)
    return recorded, restore


def session_for(order: Order, defaults: Mapping[str, str] | Callable[[Requests], Mapping[str, str]]) -> SparkSession:
    """A session with the job's own Spark settings, on top of `defaults`, and the functions that its plan calls.

    `defaults` may depend on what connectors say.
    """
    parallelism = max(1, order.configuration.number("parallelism.default"))
    settings = own_settings(order.configuration)
    given = order.spark or session(parallelism, settings)
    asked = Requests(given, order.configuration, order.folder.path, order.data_streams)
    called: dict[str, ArrowFunction] = {
        **functions_of_spark(order.graph, order.functions, job_parameters(order.configuration)),
        **Lookups.of(order.graph, asked).calls,
    }
    chosen = defaults(asked) if callable(defaults) else defaults
    prepared = prepare(given, parallelism, {**chosen, **settings}, called)
    register_functions(prepared, called)
    return prepared


def subtasks_of(order: Order, spark: SparkSession) -> int:
    """Of each operator; they stay what they were when the folder began."""
    path = order.folder.path / "subtasks.json"
    known = read_json(path, _COUNT, hint="Start from a savepoint in a new --job-dir.")
    if known is not None:
        return known
    tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    count = min(tasks, order.graph.max_parallelism)
    write_atomically(path, f"{count}\n", replace=True, private=True)
    return count


def job_parameters(configuration: Configuration) -> Mapping[str, str]:
    """What functions of the user are told of the job."""
    key = "pipeline.global-job-parameters"
    return parse_map(configuration.get_option(key), key)


def own_settings(configuration: Configuration) -> Mapping[str, str]:
    """Spark settings of a configuration; OptionError for one under which plans would mean something else."""
    settings = resolve_secrets({key: value for key, value in configuration.items() if key.startswith(SPARK_PREFIX)})
    refuse_other_meaning(settings)
    return settings
