"""``python -m tests.spark_releases.make FOLDER`` uses the PySpark that this process finds.

It makes the program's fixture in FOLDER/fixture, and stops a job in FOLDER/unfinished. To freeze a fixture: ``pip
install --no-deps --target OTHER 'pyspark==4.2.*'``, then this with OTHER first on PYTHONPATH.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rekindle.testing.restore_fixtures import write
from tests.spark_releases.program import SHOP
from tests.spark_releases.unfinished import job


def main(folder: Path) -> None:
    """Run the program whole and up to a savepoint; what went wrong ends the process."""
    from rekindle.spark.session import session

    spark = session(2, {"spark.sql.shuffle.partitions": "2"})
    problems = write(spark, SHOP, folder / "fixture")
    if problems:
        sys.exit("\n".join(problems))
    job(spark, folder / "unfinished", stops=True).start().wait()
    print(spark.version)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
