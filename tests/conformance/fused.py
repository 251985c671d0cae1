"""Several programs as one job: their plans beside each other, node ids of one behind those of the other."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from execnodes.core.graph import ExecGraph
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import clear, results
from rekindle.runtime.batch_job import job_of
from rekindle.testing.cut import Pieces, cut_program
from rekindle.testing.programs import Program
from rekindle.testing.redirect import Redirected, redirect
from rekindle.testing.runner import Assessment, Settings, collected, compared, run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.conformance.runs import Rewrite


@dataclass(frozen=True)
class _Part:
    program: Program
    redirected: Redirected
    pieces: Pieces | None


def fuse(graphs: Sequence[ExecGraph]) -> ExecGraph:
    """One graph of several."""
    nodes, edges, last, whole = [], [], 0, {}
    for graph in graphs:
        whole = json.loads(encode(graph))
        for node in whole["nodes"]:
            nodes.append({**node, "id": node["id"] + last})
        for edge in whole["edges"]:
            edges.append({**edge, "source": edge["source"] + last, "target": edge["target"] + last})
        last = max(node["id"] for node in nodes)
    return load(json.dumps({**whole, "nodes": nodes, "edges": edges}))


def judge_together(
    programs: Sequence[Program], settings: Settings, spark: SparkSession, rewrite: Rewrite
) -> list[Assessment]:
    """Run programs in one job, and judge each; RekindleError if one of them makes it fail."""
    with ExitStack() as stack:
        parts, options = list[_Part](), None
        for program in programs:
            environment = TableEnvironment.create(settings.options(program), spark=spark)
            pieces = cut_program(program, settings.cut, settings.micro_batches)
            if pieces is not None:
                stack.enter_context(pieces)
            plan = rewrite(environment.compile_script(pieces.sql if pieces is not None else program.sql))
            redirected = redirect(plan.graph, environment.tables, f"test-{uuid.uuid4().hex}")
            for sink in redirected.sinks:
                stack.callback(clear, sink.collected)
            parts.append(_Part(program, redirected, pieces))
            options = environment.configuration
        assert options is not None
        fused = fuse([each.redirected.graph for each in parts])
        first = next((each.pieces for each in parts if each.pieces is not None), None)
        for number in range(settings.cut if first is not None else 1):
            graph, configuration, target = fused, options, None
            if first is not None:
                graph, configuration, target = first.begin(number, fused, options)
                for each in parts:
                    if number and each.pieces is not None and each.pieces is not first:
                        each.pieces.place(number)
            job = job_of(graph, encode(graph), configuration, spark=spark, savepoint_at_end=target)
            run_to_end(job, settings.timeout)
        return [compared(each.program, collected(each.redirected, results)) for each in parts]
