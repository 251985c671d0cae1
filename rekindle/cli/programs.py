"""`rekindle test`: runs program folders and compares their rows with the expected ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rekindle.cli.arguments import AsJson, Options
from rekindle.cli.inputs import parse_options
from rekindle.testing.programs import Mode

if TYPE_CHECKING:
    from rekindle.testing.runner import Result


def run_program_folders(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders; programs are found below them.")],
    plan: Annotated[bool, typer.Option("--plan", help="Also check that plans come back the same when read.")] = False,
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode",
            help="What rows are late by: default: the micro-batches before, as in jobs; row: the rows before, as in "
            "Flink; batch: nothing, in batch mode, without programs that have a file nobatch or refused.txt. Unless "
            "given: default, but row for programs with a file late.",
        ),
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="The same as --mode batch.")] = False,
    as_json: AsJson = False,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Programs that run at a time.")] = 2,
    allow_unsupported: Annotated[
        bool, typer.Option("--allow-unsupported", help="Do not fail for programs that Rekindle cannot compile yet.")
    ] = False,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="Longest run of one program.")] = 300.0,
    cut: Annotated[
        int, typer.Option("--cut", min=1, help="Pieces of the input, with a savepoint and a restore between them.")
    ] = 1,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Cut the input into micro-batches of random size, drawn by this number."),
    ] = None,
    options: Options = None,
) -> None:
    """Run program folders: program.sql, input/, expected.jsonl. Exit code 1 unless all passed."""
    configuration = parse_options(options or [])
    from rekindle.testing import report
    from rekindle.testing.cut import MicroBatches
    from rekindle.testing.programs import discover, in_batch
    from rekindle.testing.runner import Settings, run_programs

    programs = discover(paths)
    mode = Mode.BATCH if batch else mode
    if mode is Mode.BATCH:
        programs = in_batch(programs)

    def show(result: Result) -> None:
        if not as_json:
            print("\n".join(report.lines_of(result)), flush=True)

    micro_batches = None if seed is None else MicroBatches(seed)
    settings = Settings(configuration, mode, jobs, plan, timeout, cut, micro_batches)
    results = run_programs(programs, settings, show)
    if as_json:
        print(report.as_json(results, allow_unsupported=allow_unsupported))
    else:
        print("\n".join(report.summary(results, allow_unsupported=allow_unsupported)))
    if report.failed(results, allow_unsupported=allow_unsupported):
        raise typer.Exit(1)
