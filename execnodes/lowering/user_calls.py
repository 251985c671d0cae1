"""How functions of the user are called in the texts that Spark runs."""

from __future__ import annotations

import hashlib
import json

from execnodes.core.async_options import AsyncOptions
from execnodes.core.expressions import Call
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import ACTIVE
from execnodes.lowering.words import mentions, with_word

PREFIX = "rk_fn_"
"""Spark knows functions of the user by names that begin so."""


def operand_types(call: Call) -> tuple[LogicalType, ...]:
    """What the function is called with; part of the name that Spark knows it by."""
    return tuple(each.type for each in call.operands)


def spark_name(call: Call, options: AsyncOptions | None = None) -> str:
    """The name under which Spark knows the function with these types, called so; the same in every process."""
    key: list[object] = [call.user_name, call.class_name, [str(each) for each in operand_types(call)], str(call.type)]
    if options is not None:
        key.append([options.concurrent, options.timeout, options.retries, options.delay])
    return PREFIX + hashlib.sha256(json.dumps(key).encode()).hexdigest()[:20]


def activated(text: str, condition: str = "TRUE") -> str:
    """A text whose functions of the user see the rows for which `condition` is TRUE."""
    return with_word(text, ACTIVE, f"({condition})")


def calls_functions(text: str) -> bool:
    """Whether a text calls functions of the user."""
    return mentions(text, PREFIX)
