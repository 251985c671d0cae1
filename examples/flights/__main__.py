"""The demo: compile, run, savepoint, kill -9, go on, stop, restore elsewhere, and check every row that came out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from rich.console import Console
from rich.rule import Rule
from rich.table import Table

from examples.flights.check import Comparison, compare, open_result
from examples.flights.prepare import FILES, prepare

WORK = Path("build/flights")
FILES_PER_BATCH = 2
REKINDLE = [sys.executable, "-m", "rekindle.cli.main"]
SHOWN = {
    "the worst hours": "SELECT origin, strftime(window_start, '%m-%d %H:00') AS hour, flights, cancelled, "
    "delay_average, delay_worst FROM result.hourly_delays ORDER BY delay_average DESC NULLS LAST, origin LIMIT 5",
    "totals by carrier": "SELECT * FROM result.carrier_totals ORDER BY flights DESC, carrier LIMIT 6",
    "latest flight of an aircraft": "SELECT * FROM result.latest_flights ORDER BY tailnum LIMIT 4",
    "flights by manufacturer": "SELECT manufacturer, count(*) AS flights, count(DISTINCT tailnum) AS aircraft, "
    "sum(seats) AS seats FROM result.flights_with_planes GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
}
console = Console(highlight=False)


def main() -> int:
    """Run the demo; 1 if a row differs."""
    started = time.monotonic()
    work = WORK.absolute()
    heading("Input")
    prepared = prepare(work)
    console.print(f"{prepared.flights:,} flights in time order, {FILES} Parquet files in {WORK}; planes beside them")

    heading("SQL to a plan")
    script = (Path(__file__).parent / "job.sql").read_text(encoding="utf-8").replace("${dir}", str(work))
    (work / "job.sql").write_text(script, encoding="utf-8")
    rekindle("compile", "-f", f"{WORK}/job.sql", "-o", f"{WORK}/plan.json")
    rekindle("explain", f"{WORK}/plan.json")

    heading("Run; take a savepoint meanwhile; kill -9")
    command = [
        "run", f"{WORK}/plan.json", "--job-dir", f"{WORK}/job",
        "-D", f"execution.micro-batch.max-files={FILES_PER_BATCH}",
        # A job of a minute: Java's second compiler would take more time than it saves.
        "-D", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
    ]  # fmt: skip
    job = work / "job"
    with running(command) as process:
        wait_for(job, 1, process)
        rekindle("savepoint", f"{WORK}/job", "--to", f"{WORK}/savepoint-1")
        wait_for(job, 2, process)
        kill(process)
    console.print(f"[red]killed with SIGKILL after {committed(job)} committed micro-batches[/red]")

    heading("Go on: the same command; stop with a savepoint")
    with running(command) as process:
        wait_for(job, 4, process)
        rekindle("stop", f"{WORK}/job", "--savepoint", f"{WORK}/savepoint-2")
        process.wait()

    heading("Go on from the savepoint: a new job, three tasks instead of two")
    moved = [*command[:3], f"{WORK}/job-2", *command[4:], "-D", "parallelism.default=3"]
    rekindle(*moved, "-s", f"{WORK}/savepoint-2")

    heading("Check: the same tables from the published files, in DuckDB alone")
    with open_result(work, prepared) as connection:
        for title, query in SHOWN.items():
            console.print(rows_table(title, connection, query))
        comparisons = list(compare(connection))
    console.print(verdict_table(comparisons))
    equal = all(each.equal for each in comparisons)
    rows = sum(each.rows for each in comparisons)
    word = f"[green]every one of {rows:,} rows is equal[/green]" if equal else "[red]the tables differ[/red]"
    console.print(f"{word}; {time.monotonic() - started:.0f} s in all")
    return 0 if equal else 1


def heading(text: str) -> None:
    """A line across the terminal."""
    console.print()
    console.print(Rule(text, align="left"))


def rekindle(*arguments: str) -> None:
    """Run the command line in a process of its own; ends the demo if it fails."""
    console.print(f"[bold]$ rekindle {' '.join(arguments)}[/bold]", soft_wrap=True)
    done = subprocess.run([*REKINDLE, *arguments], check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)


@contextmanager
def running(arguments: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The command line in the background, in a process group of its own, which is gone at the end."""
    console.print(f"[bold]$ rekindle {' '.join(arguments)} &[/bold]", soft_wrap=True)
    process = subprocess.Popen([*REKINDLE, *arguments], start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            kill(process)


def wait_for(job: Path, batches: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a job has so many committed micro-batches; ends the demo if the job ends first."""
    while committed(job) < batches:
        if process.poll() is not None:
            raise SystemExit(f"the job ended by itself with code {process.returncode}")
        time.sleep(0.05)


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL for a process and all it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def committed(job: Path) -> int:
    """Micro-batches that the log in a job's folder has as committed: its newest entry says the number of the last."""
    newest = max((job / "engine" / "log").glob("*.committed"), default=None)
    return 0 if newest is None else int(json.loads(newest.read_text(encoding="utf-8"))["micro_batch"]) + 1


def rows_table(title: str, connection: duckdb.DuckDBPyConnection, query: str) -> Table:
    """The rows of a query."""
    found = connection.execute(query)
    table = Table(title=title, title_justify="left")
    for name, kind, *_ in found.description or []:
        table.add_column(
            name, justify="right" if str(kind) in ("NUMBER", "BIGINT", "INTEGER", "DOUBLE", "HUGEINT") else "left"
        )
    for row in found.fetchall():
        table.add_row(*(f"{value:,.1f}" if isinstance(value, float) else str(value) for value in row))
    return table


def verdict_table(comparisons: list[Comparison]) -> Table:
    """A line for each table."""
    table = Table(title="Rekindle against DuckDB", title_justify="left")
    for name in ("table", "rows", "expected", "missing", "too many", "verdict"):
        table.add_column(name, justify="left" if name in ("table", "verdict") else "right")
    for each in comparisons:
        verdict = "[green]equal[/green]" if each.equal else "[red]different[/red]"
        numbers = (f"{number:,}" for number in (each.rows, each.expected, each.lacking, each.surplus))
        table.add_row(each.table, *numbers, verdict)
    return table


if __name__ == "__main__":
    sys.exit(main())
