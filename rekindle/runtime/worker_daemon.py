"""The process that Spark forks its Python workers from, with PySpark taken from its folder instead of its archive.

Spark puts `pyspark.zip` before everything else on the path of its workers. Archives hold no compiled modules, so every
worker compiles PySpark anew; and each task makes the import system forget what it knows, upon which Python before 3.13
reads the archive's directory again for each of PySpark's packages: 0.2 s a task, more than a small micro-batch needs.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder


def leave_archives() -> None:
    """Take archives off the path, if the PySpark that is found without them is that of the running Spark."""
    kept = [each for each in sys.path if not os.path.isfile(each)]
    found = PathFinder.find_spec("pyspark", kept)
    home = os.environ.get("SPARK_HOME")
    if found is None or found.origin is None or home is None:
        return
    if os.path.realpath(os.path.dirname(found.origin)) != os.path.realpath(home):
        return
    for each in set(sys.path) - set(kept):
        sys.path_importer_cache.pop(each, None)
    sys.path[:] = kept


if __name__ == "__main__":
    leave_archives()
    from pyspark.daemon import manager

    manager()
