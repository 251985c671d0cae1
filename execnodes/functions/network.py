"""INET_ATON and INET_NTOA: addresses of IPv4 as texts and as numbers."""

from __future__ import annotations

from execnodes.core.expressions import Call
from execnodes.core.types import BIGINT, STRING
from execnodes.functions.function import form, function
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_ADDRESS = text_literal("^[0-9]{1,10}([.][0-9]{1,10}){0,3}$")


def _lower_aton(scope: Scope, call: Call) -> str:
    """The last part fills the bytes that are left: 1.2.3 is 1.2.0.3. NULL for what is no address."""

    def number(parts: str) -> str:
        at, part = scope.fresh(), scope.fresh()
        count = f"size({parts})"
        last = f"element_at({parts}, {count})"
        bytes_before = f"forall(slice({parts}, 1, {count} - 1), {part} -> {part} < 256)"
        small = f"{bytes_before} AND {last} < shiftleft(1L, 8 * (5 - {count}))"
        total = (
            f"aggregate(sequence(1, {count}), 0L, ({part}, {at}) -> if({at} = {count}, {part} + {last},"
            f" {part} + shiftleft(element_at({parts}, {at}), 8 * (4 - {at}))))"
        )
        return f"if({small}, {total}, NULL)"

    def body(text: str) -> str:
        parts = f"transform(split({text}, '[.]'), p -> CAST(p AS BIGINT))"
        return f"if(rlike({text}, {_ADDRESS}), {scope.share(parts, number)}, NULL)"

    return scope.share(scope.text(call.operands[0]), body)


_PARTS = text_literal("^[0-9]+([.][0-9]+){0,3}$")


def _lower_aton_2(scope: Scope, call: Call) -> str:
    """Every part is a byte, the last one, too: 1.2.3 is 1.2.0.3. NULL for what is no address."""

    def number(parts: str) -> str:
        at, part, each = scope.fresh(), scope.fresh(), scope.fresh()
        count = f"size({parts})"
        shift = f"if({at} = {count}, 0, 8 * (4 - {at}))"
        added = f"{part} + shiftleft(element_at({parts}, {at}), {shift})"
        total = f"aggregate(sequence(1, {count}), 0L, ({part}, {at}) -> {added})"
        return f"if(forall({parts}, {each} -> coalesce({each} < 256, FALSE)), {total}, NULL)"

    def body(text: str) -> str:
        part = scope.fresh()
        parts = f"transform(split({text}, '[.]'), {part} -> TRY_CAST({part} AS BIGINT))"
        return f"if(rlike({text}, {_PARTS}), {scope.share(parts, number)}, NULL)"

    return scope.share(scope.text(call.operands[0]), body)


def _lower_ntoa(scope: Scope, call: Call) -> str:
    """NULL beyond 32 bits."""

    def body(number: str) -> str:
        parts = ", '.', ".join(f"CAST({number} div {256**at} % 256 AS STRING)" for at in (3, 2, 1, 0))
        return f"if({number} BETWEEN 0 AND 4294967295, concat({parts}), NULL)"

    return scope.share(scope.text(call.operands[0]), body)


INET_ATON = function("INET_ATON", form("TEXT", BIGINT, nullable=True), sql=_lower_aton, since="1.3")
# Version 1 let the last part fill the bytes that are left: 1.2.65535 was an address.
INET_ATON_2 = function("INET_ATON", form("TEXT", BIGINT, nullable=True), sql=_lower_aton_2, since="1.5", version=2)
INET_NTOA = function("INET_NTOA", form("BIGINT", STRING, nullable=True), sql=_lower_ntoa, since="1.3")
