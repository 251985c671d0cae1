"""The commands: where each one is, and what it is for. Light, so that help and version load nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

ABOUT = "Long-running streaming SQL on Spark that can be upgraded."
COMMANDS = {
    "sql": ("rekindle.cli.sql:sql", "Run SQL statements: from a file, from -e, from a pipe, or at a prompt."),
    "compile": (
        "rekindle.cli.compile:compile",
        "Run a script's DDL and compile its one INSERT, statement set or SELECT into a plan.",
    ),
    "run": (
        "rekindle.cli.run:run",
        "Execute a compiled plan. With --job-dir, the same command goes on after a stop or a crash.",
    ),
    "explain": (
        "rekindle.cli.explain:explain",
        "Show a plan as a tree: nodes, the changes they emit, and the uids of their state.",
    ),
    "check": (
        "rekindle.cli.check:check",
        "Say for each state whether NEW keeps it. Exit code 0 full, 3 incompatible, 4 partial, 5 unknown.",
    ),
    "diff": (
        "rekindle.cli.diff:diff",
        "Show which nodes, properties, options and edges two plans differ in. `check` says what that does to state.",
    ),
    "report": (
        "rekindle.cli.report:report",
        "Write what an upgrade does to state, both plans as one graph and what to run next into one HTML file.",
    ),
    "upgrade": (
        "rekindle.cli.upgrade:upgrade",
        "Write a plan whose nodes are of their newest versions. Ids, uids and rows stay, so savepoints go on fitting.",
    ),
    "bootstrap": (
        "rekindle.cli.bootstrap:bootstrap",
        "Read the sources up to the savepoint's positions once more, and write a savepoint with the operators' states.",
    ),
    "lint": ("rekindle.cli.lint:lint", "Check plan files. Exit code 1 if one of them cannot run."),
    "test": (
        "rekindle.cli.programs:run_program_folders",
        "Run program folders: program.sql, input/, expected.jsonl. Exit code 1 unless all passed.",
    ),
    "list": (
        "rekindle.cli.list:list_jobs",
        "List the jobs of the jobs folder: ids, names, states, rows and watermarks. Running ones come first.",
    ),
    "savepoint": (
        "rekindle.cli.control:savepoint",
        "Write a savepoint of a job's last committed micro-batch. A running job goes on; an ended one stays as it is.",
    ),
    "cancel": (
        "rekindle.cli.control:cancel",
        "End a job for good, at the end of its micro-batch: it is CANCELED then, and not meant to go on.",
    ),
    "stop": (
        "rekindle.cli.control:stop",
        "Stop a job at the end of its micro-batch. It can go on from its folder, or from the savepoint.",
    ),
    "state": ("rekindle.cli.state:state", "The state of jobs and savepoints."),
    "migrate": (
        "rekindle.cli.migrate:migrate",
        "Write a new savepoint: states renamed, dropped, split, merged, transformed, or put under another plan.",
    ),
    "doctor": (
        "rekindle.cli.doctor:doctor",
        "Check Java, Python, packages, disk and memory, and start Spark once. Exit code 1 if something is missing.",
    ),
}
"""Module and function of each command, and the first paragraph of its help."""
SHORT = frozenset({"compile", "explain", "check", "diff", "report", "upgrade", "lint"})
"""Commands that read and write plans, and end."""
_OPTIONS = {
    "--version": "Show the version and exit.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the installation.",
    "-h, --help": "Show this message and exit; behind a command, the command's.",
}
_WIDEST = 100


def help_text() -> str:
    """The help of `rekindle` itself."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    summaries = {name: summary for name, (_, summary) in COMMANDS.items()}
    return "\n".join(
        (
            "Usage: rekindle [OPTIONS] COMMAND [ARGS]...",
            "",
            ABOUT,
            "",
            "Options:",
            *_table(_OPTIONS, width),
            "",
            "Commands:",
            *_table(summaries, width),
        )
    )


def _table(rows: dict[str, str], width: int) -> Iterator[str]:
    margin = 2 + max(map(len, rows)) + 2
    for name, text in rows.items():
        line = f"  {name}".ljust(margin - 1)
        for word in text.split():
            if len(line) + 1 + len(word) > width and len(line) > margin:
                yield line
                line = " " * (margin - 1)
            line += f" {word}"
        yield line
