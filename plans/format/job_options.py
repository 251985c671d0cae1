"""Options of the job that a plan keeps: defaults, by which no row and no state is decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from execnodes.core.errors import OptionError, PlanError
from execnodes.core.options import find
from plans.format.places import without_places

_WHERE = "configuration"


def read_job_options(given: Mapping[str, str]) -> dict[str, str]:
    """Options by the keys and in the texts of today; PlanError for one that a plan cannot keep."""
    found = {}
    for key, value in given.items():
        try:
            option = find(key)
            found[option.key] = option.check(value)
        except OptionError as error:
            raise PlanError(error.message, where=_WHERE, hint=error.hint) from None
        if option.scope != "job":
            hint = "Take it out of the plan and give it to the session that runs the plan: -D key=value."
            raise PlanError(f"{key!r} is not an option that a plan keeps", where=_WHERE, hint=hint)
    return found


def is_same_pipeline(one: str, other: str) -> bool:
    """Whether the texts of two plans differ in the options of the job and the places of their SQL at most."""
    one, other = without_places(one), without_places(other)
    return one == other or _without_options(one) == _without_options(other)


def _without_options(plan: str) -> Any:
    try:
        values = json.loads(plan)
    except (ValueError, RecursionError):
        return plan
    return {key: values[key] for key in values if key != _WHERE} if isinstance(values, dict) else plan
