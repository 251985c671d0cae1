"""What EXPLAIN may be asked for besides the nodes, in SQL and in Python."""

from __future__ import annotations

from enum import StrEnum


class ExplainDetail(StrEnum):
    """A detail that `explain` adds."""

    ESTIMATED_COST = "ESTIMATED_COST"
    CHANGELOG_MODE = "CHANGELOG_MODE"
    JSON_EXECUTION_PLAN = "JSON_EXECUTION_PLAN"
    PLAN_ADVICE = "PLAN_ADVICE"


DETAILS = tuple(each.value for each in ExplainDetail)
