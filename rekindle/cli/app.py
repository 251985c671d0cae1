"""The command line as Typer's application, of all commands or of the one that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from rekindle.cli.commands import ABOUT, COMMANDS
from rekindle.cli.local_paths import with_local_paths
from rekindle.cli.terminal import plainly


def app_of(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The application with these commands; the modules of others are not loaded."""
    app = typer.Typer(
        name="rekindle",
        help=ABOUT,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    for name in names:
        module, _, attribute = COMMANDS[name][0].partition(":")
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            for each in command.registered_commands:
                if each.callback is not None:
                    each.callback = with_local_paths(plainly(each.callback))
            app.add_typer(command)
        else:
            app.command(name)(with_local_paths(plainly(command)))
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from rekindle.cli.version import version_text

        print(version_text())
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Long-running streaming SQL on Spark that can be upgraded: compiled plans, named state."""
