"""What programs with watermarks of rows hold in state, with watermarks of micro-batches: as jobs run by default."""

from tests.restore.program import RestoreProgram
from tests.restore.programs import ranks, windows

_GRANULARITY = "table.exec.lateness.granularity"


def by_default(program: RestoreProgram) -> RestoreProgram:
    """The program without the option, over rows of which none is late."""
    options = {key: value for key, value in program.configuration.items() if key != _GRANULARITY}
    return RestoreProgram(
        program.node, "micro_batches", program.sql, program.queries, windows.BEFORE, windows.AFTER, options
    )


FIRST_ROWS = by_default(windows.WAITED_FOR)
SLICES = by_default(windows.SLICES)
SORTED = by_default(ranks.SORTED)
IN_WINDOWS = by_default(ranks.IN_WINDOWS)
