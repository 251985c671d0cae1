"""``python -m tests.restore.make NODE`` makes the fixtures that a node version lacks, with the code of today.

It never overwrites: fixtures are what the release wrote that first had the version.
"""

from __future__ import annotations

import sys

from rekindle.testing.restore_fixtures import write
from tests.restore.program import programs


def main(node: str) -> None:
    """Make what is missing."""
    from rekindle.spark.session import session

    wanted = [each for each in programs() if node in (each.node, "all")]
    if not wanted:
        sys.exit(f"no restore program is for {node!r}; write one in tests/restore/programs/")
    spark = session(2, {"spark.sql.shuffle.partitions": "2"})
    for program in wanted:
        if program.fixture.exists():
            print(f"{program} is there")
            continue
        problems = write(spark, program, program.fixture)
        print("\n".join([f"{program} gives other rows than it says", *problems]) if problems else f"{program} made")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
