"""Entry point of `rekindle`: which command is asked for, and how errors leave the process.

Exit codes: 0 all well, 1 an error, 2 a wrong command line, 3 incompatible, 4 needs consent, 5 cannot be judged,
75 a failure that may pass, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Sequence

_OBJECTS, _OBJECTS_OF_SHORT_ONES = 50_000, 500_000
"""New objects between two looks for garbage: loading makes many and no garbage, and looking for it as often as usual
takes a tenth of a short command."""


def run() -> None:
    """Run the command line; always ends the process with an exit code."""
    words = sys.argv[1:]
    try:
        if words == ["--version"]:
            from rekindle.cli.version import version_text

            print(version_text())
            sys.exit(0)
        if words in ([], ["-h"], ["--help"]):
            from rekindle.cli.commands import help_text

            print(help_text())
            sys.exit(0 if words else 2)
        _command(words)
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter would complain once more while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _command(words: Sequence[str]) -> None:
    from execnodes.core.errors import RekindleError
    from rekindle.cli.app import app_of
    from rekindle.cli.commands import COMMANDS, SHORT
    from rekindle.cli.errors import describe_defect, describe_error
    from rekindle.cli.inputs import InScript

    _tell_of_starts()
    short = words[0] in SHORT
    gc.set_threshold(_OBJECTS_OF_SHORT_ONES if short else _OBJECTS)
    try:
        # Completion of a shell, a wrong command and an option in front of it want all of them.
        alone = words[0] in COMMANDS and "_REKINDLE_COMPLETE" not in os.environ
        app_of([words[0]] if alone else COMMANDS)(prog_name="rekindle")
    except InScript as failure:
        _fail(failure, describe_error(failure.error, failure.script), failure.error.exit_code)
    except RekindleError as error:
        _fail(error, describe_error(error), error.exit_code)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001
        _fail(error, describe_defect(error))
    finally:
        if short:
            gc.freeze()  # nobody needs what the interpreter would look through once more at its end


def _tell_of_starts() -> None:
    """On a terminal say what is waited for when Spark starts."""
    if sys.stderr.isatty():
        import logging

        logger = logging.getLogger("rekindle.spark.starts")
        logger.addHandler(logging.StreamHandler(sys.stderr))
        logger.setLevel(logging.INFO)
        logger.propagate = False


def _fail(error: BaseException, lines: Iterable[str], code: int = 1) -> None:
    from rekindle.cli.errors import debugging
    from rekindle.cli.terminal import plain_streams

    plain_streams()
    if debugging():
        import traceback

        from execnodes.core.secrets import masked

        print(masked("".join(traceback.format_exception(error))), end="", file=sys.stderr)
    for line in lines:
        print(line, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    run()
