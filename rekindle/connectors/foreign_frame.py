"""DataFrames of the caller's session, made part of a job's own query."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import ConnectorError
from rekindle.spark.releases import names_streams, require_named_streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

_STREAMING = "org.apache.spark.sql.catalyst.streaming"


def adopt(spark: SparkSession, frame: DataFrame, name: str, where: str) -> DataFrame:
    """The same rows in the session `spark`, with `name` (``name_2``, …) for Spark's sources below.

    A query belongs to the session of its frame, and with `enableSourceEvolution` every source must be named, which
    only a session with that setting can do. ConnectorError, at `where`, for a frame with a watermark of Spark's.
    """
    from pyspark.sql import DataFrame

    plan: Any = frame._jdf.queryExecution().analyzed()
    leaves = int(plan.collectLeaves().size())
    if frame.isStreaming and leaves > 1:
        hint = "Register its sources one by one and join them in SQL, or install a newer one."
        require_named_streams("a streaming DataFrame of several sources", where, hint)
    names = (name if number == 1 else f"{name}_{number}" for number in count(1))
    jvm: Any = spark._jvm
    made = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, _named(jvm, plan, names, where))
    return DataFrame(made, spark)


def _named(jvm: Any, plan: Any, names: Iterator[str], where: str) -> Any:
    kind = plan.getClass().getSimpleName()
    if kind == "EventTimeWatermark":
        raise ConnectorError(
            "the DataFrame has a watermark of Spark's own, by which the time of the whole query would be held back",
            where=where,
            hint="Leave withWatermark out, and declare WATERMARK FOR … AS … in the data stream's schema.",
        )
    if kind in ("StreamingRelation", "StreamingRelationV2"):
        if not names_streams():
            return plan
        wrapped = getattr(jvm, f"{_STREAMING}.UserProvided")(next(names))
        return plan.withSourceIdentifyingName(wrapped)
    children = plan.children()
    if children.isEmpty():
        return plan
    changed = [_named(jvm, children.apply(at), names, where) for at in range(children.size())]
    return plan.withNewChildren(jvm.PythonUtils.toSeq(changed))
