"""The bucket of a value: by the hash that keys of state have, so it stays what it is as long as they do."""

from __future__ import annotations

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import INT, INTEGERS, LogicalType
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.lowering.slots import encode_key


def _bind(call: Invocation) -> Binding | None:
    match call.operands:
        case (_, Literal(type=LogicalType(root=root), value=int(number))) if root in INTEGERS and number > 0:
            return Binding(call.operands, INT.not_null())
    return None


def _lower(scope: Scope, call: Call) -> str:
    value, number = call.operands
    return f"CAST(pmod(xxhash64({encode_key(value.type, scope.text(value))}), {scope.text(number)}) AS INT)"


HASH_BUCKET = Function("HASH_BUCKET", ("HASH_BUCKET(ANY, constant INT)",), _bind, _lower, since="1.4")
"""From 0 up to the number of buckets; NULL has one, too."""
