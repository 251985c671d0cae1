"""Which serializer an accumulator has, and snapshots from what plans and savepoints hold."""

from __future__ import annotations

import dataclasses
from typing import Any, get_origin

from execnodes.core import consent
from execnodes.core.errors import FunctionError, StateError
from execnodes.core.expressions import AccumulatorSchema
from execnodes.core.types import LogicalType, Root
from execnodes.state.serializers.avro import AvroSerializer, AvroSnapshot
from execnodes.state.serializers.dataclasses import DataclassSerializer, DataclassSnapshot
from execnodes.state.serializers.pickled import PickleSerializer, PickleSnapshot
from execnodes.state.serializers.rows import RowSerializer, RowSnapshot
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.state.serializers.snapshot import TypeSerializerSnapshot
from execnodes.state.serializers.values import ValueSerializer, ValueSnapshot
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.data_views import ListView, MapView
from execnodes.user_functions.hints import shown, sql_type, type_of_hint

_SNAPSHOTS: dict[str, type[TypeSerializerSnapshot]] = {
    DataclassSerializer.name: DataclassSnapshot,
    RowSerializer.name: RowSnapshot,
    AvroSerializer.name: AvroSnapshot,
    PickleSerializer.name: PickleSnapshot,
    ValueSerializer.name: ValueSnapshot,
}


def serializer_of(definition: AggregateDefinition) -> TypeSerializer:
    """The serializer of a function's accumulators; FunctionError names the function if there can be none."""
    given = definition.accumulator
    # The function is there, so what its accumulators are made of may be named by savepoints, too.
    consent.grant(_modules(definition))
    try:
        if isinstance(given, TypeSerializer):
            return given
        if isinstance(given, str | LogicalType):
            type_ = sql_type(given)
            return RowSerializer(type_) if type_.root is Root.ROW else ValueSerializer(type_)
        if dataclasses.is_dataclass(given) and isinstance(given, type):
            return DataclassSerializer(given)
        if get_origin(given) in (ListView, MapView):
            return ValueSerializer(type_of_hint(given))
    except FunctionError as error:
        raise FunctionError(f"function {definition.name}: {error.message}", hint=error.hint) from error
    return PickleSerializer("" if given is None else shown(given))


def _modules(definition: AggregateDefinition) -> set[str]:
    given, function = definition.accumulator, definition.function
    named: list[Any] = [function if hasattr(function, "__module__") else type(function)]
    if isinstance(given, TypeSerializer):
        named += [type(given), type(given.snapshot())]
    elif isinstance(given, type):
        named.append(given)
    ours = __name__.partition(".")[0]
    modules = {str(each.__module__) for each in named}
    return {each for each in modules if each != "builtins" and not each.startswith(f"{ours}.")}


def snapshot_of(schema: AccumulatorSchema) -> TypeSerializerSnapshot:
    """The snapshot that a plan or a savepoint holds; StateError if its class is gone or does not read it."""
    found: Any = _SNAPSHOTS.get(schema.serializer)
    try:
        if found is None:
            found = consent.resolve(schema.serializer, "the snapshot of an accumulator")
            if not (isinstance(found, type) and issubclass(found, TypeSerializerSnapshot)):
                raise TypeError(f"{schema.serializer} is no TypeSerializerSnapshot")
        made: TypeSerializerSnapshot = found()
        made.read_snapshot(schema.version, schema.configuration)
    except (ImportError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise StateError(
            f"the snapshot {schema.serializer} (version {schema.version}) of an accumulator cannot be read: {error}",
            hint="The module of the snapshot must be on PYTHONPATH, and read every version it has written.",
        ) from error
    return made
