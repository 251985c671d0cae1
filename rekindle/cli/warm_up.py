"""Starts Spark while somebody types at the prompt.

Of the seconds to the first row, a third goes into Java and its Spark session, and most of the rest into what is loaded
and compiled by the first micro-batch: so a query of one row runs ahead of the first one that is typed.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from execnodes.core.errors import RekindleError
from execnodes.core.options import SPARK_PREFIX, Configuration

if TYPE_CHECKING:
    from collections.abc import Mapping

_QUERY = "SELECT k, COUNT(*) FROM (VALUES ('a')) AS t (k) GROUP BY k"
"""One exchange and one operator with state: all that queries have in common is loaded."""
_PARALLELISM = "parallelism.default"
_log = logging.getLogger("rekindle.warm_up")


def start_warm_up(configuration: Configuration) -> threading.Thread:
    """Start Spark with these settings, and run a query of one row, in a thread of its own."""
    settings = {key: value for key, value in configuration.items() if key.startswith((SPARK_PREFIX, _PARALLELISM))}
    thread = threading.Thread(target=_warm_up, args=(settings,), name="rekindle-warm-up", daemon=True)
    thread.start()
    return thread


def _warm_up(settings: Mapping[str, str]) -> None:
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.runtime.assemble import own_settings
    from rekindle.spark.session import session

    configuration = Configuration(settings)
    try:
        parallelism = max(1, configuration.number(_PARALLELISM))
        spark = session(parallelism, own_settings(configuration), is_warm_up=True)
        list(TableEnvironment.create(settings, spark=spark).execute_sql(_QUERY).collect())
    except Exception as error:  # noqa: BLE001  # the first query of the user meets it again, and says so
        level = logging.DEBUG if isinstance(error, RekindleError) else logging.INFO
        _log.log(level, "warm-up has ended early: %s", error)
