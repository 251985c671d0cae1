"""Start of the command `rekindle` and of Spark's Python workers, whatever the path has under the name `rekindle`.

As a script it is ``python -m``: ``python -P rekindle_launcher.py -m pyspark.daemon pyspark.worker``.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_PLACE = os.path.dirname(os.path.abspath(__file__))
_DAEMON = "pyspark.daemon"
"""The module whose process Spark's Python workers are forks of."""


def run() -> None:
    """Run the command line; always ends the process with an exit code."""
    load_rekindle()
    from rekindle.cli.main import run

    run()


def load_rekindle() -> None:
    """Import `rekindle` from beside this file; it finds its other packages. Ends the process if it cannot be."""
    loaded = sys.modules.get("rekindle")
    if loaded is not None:
        place = str(getattr(loaded, "__file__", None))
        if os.path.realpath(place) != os.path.realpath(os.path.join(_PLACE, "rekindle", "__init__.py")):
            sys.exit(f"error: module 'rekindle' is already imported from {place}\n  hint: Rename yours.")
        return
    spec = PathFinder.find_spec("rekindle", [_PLACE])
    if spec is None or spec.loader is None:
        sys.exit(f"error: package 'rekindle' is missing in {_PLACE}\n  hint: Install Rekindle again.")
    module = module_from_spec(spec)
    sys.modules["rekindle"] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        what, *hint = str(error).splitlines()
        sys.exit("\n".join([f"error: {what}", *(f"  hint: {line.strip()}" for line in hint)]))


if __name__ == "__main__":
    load_rekindle()
    sys.argv = sys.argv[2:]
    if sys.argv[0] == _DAEMON:
        from rekindle.spark.workers import load_ahead

        load_ahead()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
