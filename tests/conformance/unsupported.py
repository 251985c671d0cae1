"""The programs with rows of Flink that Rekindle refuses to compile so far: a list that only shrinks.

``python -m tests.conformance.unsupported`` takes those out of ``unsupported.txt`` that compile now; ``--add`` also puts
in what no longer does, or is new: its difference has to be argued for.
"""

from __future__ import annotations

import sys
from pathlib import Path

from execnodes.core.errors import PlanError, RekindleError
from rekindle.api.table_environment import TableEnvironment
from rekindle.testing.programs import Program, discover
from rekindle.testing.runner import Settings

FOLDER = Path(__file__).parent
PROGRAMS = discover([FOLDER / "programs"])
LIST = FOLDER / "unsupported.txt"


def listed() -> frozenset[str]:
    """Names of the programs in the list."""
    return frozenset(LIST.read_text(encoding="utf-8").split())


def has_event_time(program: Program) -> bool:
    """Whether a table of its script has a watermark."""
    return "WATERMARK FOR" in program.sql.upper()


def unsupported(program: Program) -> bool:
    """Whether a program that must give rows is refused when it is compiled, as `rekindle test` counts it."""
    if program.refusal is not None or not program.judged:
        return False
    try:
        TableEnvironment.create(Settings().options(program)).compile_script(program.sql)
    except PlanError:
        return False
    except RekindleError:
        return True
    return False


def main(*arguments: str) -> None:
    """Write the list."""
    found = {each.name for each in PROGRAMS if unsupported(each)}
    kept = found if "--add" in arguments else found & listed()
    LIST.write_text("".join(f"{name}\n" for name in sorted(kept)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
