"""A compiled plan in the hands of a user: read it, write it, look at it, execute it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.words import counted
from plans.compatibility.compare import Comparison
from plans.format.codec import ALL, CompileOptions, encode
from plans.format.explain import explain
from plans.format.load import load
from rekindle.files.atomic_file import write_atomically
from rekindle.files.paths import local_path
from rekindle.results.plan_reference import PlanReference


class PlanExecutor(Protocol):
    """Runs plans: a TableEnvironment."""

    def execute_plan(self, plan: CompiledPlan) -> Any:
        """Start the pipeline; returns a TableResult."""
        ...


class CompiledPlan:
    """An immutable plan that has been read and checked."""

    def __init__(
        self,
        text: str,
        *,
        source: str = "<plan>",
        executor: PlanExecutor | None = None,
        comparison: Comparison | None = None,
        unkept: tuple[str, ...] = (),
    ) -> None:
        """Read `text`; PlanError if it is no plan that this engine runs. `source` names it in messages.

        `comparison`: what becomes of the state of the plan that it was compiled from; `unkept`: options that were set
        when it was compiled and that no plan keeps.
        """
        self.unkept = unkept
        self.comparison = comparison
        self._text = text
        self._source = source
        self._executor = executor
        self._graph = load(text, source=source)

    @classmethod
    def of(
        cls,
        graph: ExecGraph,
        options: CompileOptions = ALL,
        executor: PlanExecutor | None = None,
        comparison: Comparison | None = None,
        unkept: tuple[str, ...] = (),
    ) -> Self:
        """The plan of nodes that a planner has made."""
        return cls(encode(graph, options), executor=executor, comparison=comparison, unkept=unkept)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        supplier: Callable[[], CompiledPlan] | None = None,
        *,
        executor: PlanExecutor | None = None,
    ) -> Self:
        """Read a plan file; if it is missing and there is a supplier, write the supplier's plan there first."""
        reference = PlanReference.from_file(path)
        if supplier is not None and not local_path(path).exists():
            supplier().write_to_file(path)
        return cls(reference.read(), source=reference.source, executor=executor)

    @classmethod
    def from_json_string(cls, text: str, *, executor: PlanExecutor | None = None) -> Self:
        """Read a plan from JSON."""
        return cls(text, executor=executor)

    @property
    def graph(self) -> ExecGraph:
        """The nodes; tables as the plan holds them (`plans.compatibility.restore.resolve_tables` completes them)."""
        return self._graph

    @property
    def source(self) -> str:
        """The file it was read from, for messages."""
        return self._source

    def get_engine_version(self) -> str:
        """Release that compiled the plan, e.g. ``1.0``."""
        return self._graph.engine_version

    def as_json_string(self) -> str:
        """The plan as it was read, byte for byte."""
        return self._text

    def write_to_file(self, path: str | Path, ignore_if_exists: bool = True, *, force: bool = False) -> None:
        """Write the plan; the file is there whole or not at all.

        A file that is there already is left as it is with `ignore_if_exists`, replaced with `force`, else PlanError.
        """
        file = local_path(path)
        try:
            write_atomically(file, self._text, replace=force)
        except FileExistsError:
            if ignore_if_exists and file.is_file():
                return
            raise PlanError(
                "the plan file exists already",
                where=str(file),
                hint="Write COMPILE PLAN … IF NOT EXISTS to keep it, or SET 'table.plan.force-recompile' = 'true' "
                "to replace it.",
            ) from None
        except OSError as error:
            hint = "Check the path and its permissions."
            raise PlanError(f"the plan cannot be written: {error.strerror}", where=str(file), hint=hint) from None

    def explain(self, *details: str) -> str:
        """The nodes as a tree; `details` are those of EXPLAIN (see `execnodes.core.explain_details`)."""
        return explain(self._graph, details)

    def execute(self) -> Any:
        """Start the pipeline in the table environment the plan came from; returns a TableResult."""
        if self._executor is None:
            raise PlanError(
                "the plan belongs to no table environment, so nothing can run it",
                where=self._source,
                hint="Load it with TableEnvironment.load_plan, or run `rekindle run plan.json`.",
            )
        return self._executor.execute_plan(self)

    def __repr__(self) -> str:
        nodes = counted(len(self._graph.nodes), "node")
        return f"CompiledPlan({self._source}, {nodes}, engine version {self.get_engine_version()})"


PlanSource = CompiledPlan | PlanReference | str | Path
"""A plan, or where it lies."""
