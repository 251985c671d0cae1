"""Accumulators that change: each rule with what is allowed and what is refused; and files that are converted."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.core import consent
from execnodes.core.errors import FunctionError, StateError
from execnodes.core.expressions import AccumulatorSchema, Value
from execnodes.core.meaning import StateColumn, StateMeaning, accumulator
from execnodes.core.types import parse_type
from execnodes.state.serializers.avro import avro
from execnodes.state.serializers.dataclasses import DataclassSerializer, DataclassSnapshot
from execnodes.state.serializers.make import snapshot_of
from execnodes.state.serializers.migrate import migrate
from execnodes.state.serializers.pickled import PickleSerializer
from execnodes.state.serializers.rows import RowSerializer
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.state.serializers.snapshot import (
    CompatibilityType,
    SchemaCompatibility,
    TypeSerializerSnapshot,
    compatible_as_is,
)
from execnodes.terms.term import leaf, said
from plans.compatibility.accumulators import evolve
from plans.compatibility.fates import Fate
from plans.compatibility.judge import judge
from rekindle.savepoints.convert import convert
from rekindle.savepoints.manifest import SavedState
from tests.user_functions.evolving import JsonSerializer, JsonSnapshot, OldSnapshot


def record(*fields: Any, name: str = "S", namespace: str = "job") -> TypeSerializer:
    """An Avro record; a field is a name, a type and maybe a default and aliases."""
    keys = ("name", "type", "default", "aliases")
    made = [dict(zip(keys, each, strict=False)) for each in fields]
    return avro({"type": "record", "name": name, "namespace": namespace, "fields": made})


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def nested(*fields: Any, name: str = "N") -> dict[str, Any]:
    made = [dict(zip(("name", "type", "default"), each, strict=False)) for each in fields]
    return {"type": "record", "name": name, "fields": made}


AS_IS, MIGRATION = CompatibilityType.COMPATIBLE_AS_IS, CompatibilityType.COMPATIBLE_AFTER_MIGRATION
RECONFIGURED, REFUSED = CompatibilityType.COMPATIBLE_WITH_RECONFIGURED_SERIALIZER, CompatibilityType.INCOMPATIBLE


def dataclass_(name: str = "State", **fields: Any) -> TypeSerializer:
    """A dataclass; a field is a type, or a type and a default."""
    given = [(key, *(each if isinstance(each, tuple) else (each,))) for key, each in fields.items()]
    made = make_dataclass(name, given)
    made.__module__ = "job"
    return DataclassSerializer(made)


def rows(text: str) -> TypeSerializer:
    return RowSerializer(parse_type(text))


@pytest.mark.parametrize(
    ("old", "new", "verdict", "reason"),
    [
        # Dataclasses, by Flink's rules of POJOs.
        (dataclass_(a=int), dataclass_(a=int), AS_IS, ""),
        (dataclass_(a=int, b=int), dataclass_(b=int, a=int), AS_IS, ""),
        (dataclass_(a=int), dataclass_(a=(int, 7)), AS_IS, ""),
        (dataclass_(a=int), dataclass_(a=int, b=(str, "x")), MIGRATION, "fields added b"),
        (dataclass_(a=int), dataclass_(a=int, b=str), REFUSED, "field b is new and has no default"),
        (dataclass_(a=int, b=str), dataclass_(a=int), MIGRATION, "fields removed b"),
        (dataclass_(a=int, b=str), dataclass_(a=int, c=(str, "")), MIGRATION, "fields added c and removed b"),
        (dataclass_(a=int), dataclass_(a=float), REFUSED, "field a was BIGINT and is DOUBLE"),
        (dataclass_(a=list[int]), dataclass_(a=list[str]), REFUSED, "types of fields cannot change"),
        (dataclass_(a=int), dataclass_("Other", a=int), REFUSED, "classes cannot be renamed or moved"),
        # ROWs of SQL.
        (rows("ROW<a INT>"), rows("ROW<a INT>"), AS_IS, ""),
        (rows("ROW<a INT>"), rows("ROW<a INT, b STRING>"), MIGRATION, "fields added b"),
        (rows("ROW<a INT>"), rows("ROW<a INT, b STRING NOT NULL>"), REFUSED, "field b is new and has no default"),
        (rows("ROW<a INT, b STRING>"), rows("ROW<b STRING>"), MIGRATION, "fields removed a"),
        (rows("ROW<a INT>"), rows("ROW<a BIGINT>"), REFUSED, "field a was INT and is BIGINT"),
        # From one kind to another.
        (rows("ROW<a BIGINT>"), dataclass_(a=int), REFUSED, "the accumulator was no dataclass"),
        (dataclass_(a=int), rows("ROW<a BIGINT>"), REFUSED, "the accumulator was no ROW"),
        # Avro's rules of resolution.
        (record(("a", "int")), record(("a", "int")), AS_IS, ""),
        (record(("a", "int")), record(("a", "long")), MIGRATION, "by Avro's rules"),
        (record(("a", "long")), record(("a", "int")), REFUSED, "field a was long and is int"),
        (record(("a", "float")), record(("a", "double")), MIGRATION, ""),
        (record(("a", "string")), record(("a", "bytes")), MIGRATION, ""),
        (record(("a", "string")), record(("a", "int")), REFUSED, "field a was string and is int"),
        (record(("a", "int")), record(("a", "int"), ("b", "string", "x")), MIGRATION, ""),
        (record(("a", "int")), record(("a", "int"), ("b", "string")), REFUSED, "field b is new and has no default"),
        (record(("a", "int"), ("b", "int")), record(("a", "int")), MIGRATION, ""),
        (record(("a", "int")), record(("b", "int", 0, ["a"])), MIGRATION, ""),
        (record(("a", "int")), record(("a", ["null", "int"])), MIGRATION, ""),
        (record(("a", ["null", "int"])), record(("a", "int")), REFUSED, "could be null and cannot be any longer"),
        (record(("a", enum("X"))), record(("a", enum("X", "Y"))), MIGRATION, ""),
        (record(("a", enum("X", "Y"))), record(("a", enum("X"))), REFUSED, "lost the symbol Y"),
        (record(("a", enum("X", "Y"))), record(("a", enum("X", default="X"))), MIGRATION, ""),
        (record(("a", "int", 1)), record(("a", "int", 2, ["z"])), AS_IS, ""),
        (record(("a", {"type": "array", "items": "int"})), record(("a", {"type": "array", "items": "long"})),
         MIGRATION, ""),
        (record(("a", {"type": "map", "values": "int"})), record(("a", {"type": "map", "values": "string"})),
         REFUSED, "was int and is string"),
        (record(("a", {"type": "fixed", "name": "F", "size": 2})),
         record(("a", {"type": "fixed", "name": "F", "size": 3})), REFUSED, "had 2 bytes and has 3"),
        (record(("a", nested(("x", "int")))), record(("a", nested(("x", "int"), ("y", "int", 1)))), MIGRATION, ""),
        (record(("a", nested(("x", "int")))), record(("a", nested(("x", "int"), name="M"))), REFUSED, "was N and is M"),
        (record(("a", "int")), record(("a", "int"), name="T"), REFUSED, "was job.S and is job.T"),
        (record(("a", "int")), record(("a", "int"), namespace="other"), REFUSED, "names and namespaces cannot change"),
        (rows("ROW<a INT>"), record(("a", "int")), REFUSED, "the accumulator was no Avro record"),
        # Pickle never.
        (PickleSerializer("set"), PickleSerializer("set"), AS_IS, ""),
        (PickleSerializer("set"), PickleSerializer("dict"), REFUSED, "pickled state cannot evolve"),
        (PickleSerializer("set"), dataclass_(a=int), REFUSED, "the accumulator was no dataclass"),
        (dataclass_(a=int), PickleSerializer("set"), REFUSED, "nothing else can become pickled"),
        # A serializer of the user's own.
        (JsonSerializer("v2:"), JsonSerializer("v2:"), AS_IS, ""),
        (JsonSerializer("v1:"), JsonSerializer("v2:"), MIGRATION, "prefix 'v1:'"),
        (JsonSerializer("lenient:"), JsonSerializer("v2:"), RECONFIGURED, "keys keep their prefix"),
        (dataclass_(a=int), JsonSerializer("v2:"), REFUSED, "it was no JSON"),
    ],
)  # fmt: skip
def test_verdicts(old: TypeSerializer, new: TypeSerializer, verdict: CompatibilityType, reason: str) -> None:
    before, after = (AccumulatorSchema.model_validate_json(e.schema().model_dump_json()) for e in (old, new))
    found = snapshot_of(after).resolve_schema_compatibility(snapshot_of(before))
    assert (found.verdict, reason in found.reason) == (verdict, True), found.reason


class _Silent(OldSnapshot):
    """Overrides the old direction only."""


def test_the_old_direction_is_a_bridge() -> None:
    new = _Silent("v2:")
    assert new.resolve_schema_compatibility(OldSnapshot("v2:")).verdict is AS_IS
    assert new.resolve_schema_compatibility(OldSnapshot("v1:")).verdict is REFUSED
    # The new direction wins where there is one; an old snapshot that is asked turns to it.
    assert JsonSnapshot("v2:").resolve_schema_compatibility(OldSnapshot("v1:")).verdict is MIGRATION
    assert JsonSnapshot("v1:").resolve_schema_compatibility_with(JsonSerializer("v2:")).verdict is MIGRATION


class _OnlyNew(TypeSerializerSnapshot):
    def write_snapshot(self) -> dict[str, Value]:
        return {}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """Nothing to read."""

    def restore_serializer(self) -> TypeSerializer:
        return JsonSerializer()

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        return compatible_as_is()


def test_who_cannot_judge_refuses() -> None:
    found = _Silent("v2:").resolve_schema_compatibility(_OnlyNew())
    assert found.verdict is REFUSED
    assert "neither snapshot can judge" in found.reason


def test_a_snapshot_without_either_direction_is_an_error() -> None:
    with pytest.raises(FunctionError, match="does not say what it is compatible with"):
        type("Nothing", (TypeSerializerSnapshot,), {})


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (dataclass_(a=int, gone=str), dataclass_(a=int, b=(str, "x"), c=(list[int] | None, None)),
         {"a": [1, 2], "gone": ["p", "q"]}, {"a": [1, 2], "b": ["x", "x"], "c": [None, None]}),
        (rows("ROW<a INT>"), rows("ROW<b STRING, a INT>"), {"a": [1]}, {"b": [None], "a": [1]}),
        (record(("a", "int"), ("n", nested(("x", "int"))), ("e", enum("X", "Y"))),
         record(("b", "double", 0, ["a"]), ("n", nested(("x", "long"), ("y", "string", "q"))), ("z", "bytes", "\u00ff"),
                ("e", enum("X", default="X"))),
         {"a": [1], "n": [{"x": 2}], "e": ["Y"]},
         {"b": [1.0], "n": [{"x": 2, "y": "q"}], "z": [b"\xff"], "e": ["X"]}),
        (JsonSerializer("v1:"), JsonSerializer("v2:"), {"value": [b'{"v1:n": 1}']}, {"value": [b'{"v2:n": 1}']}),
        (JsonSerializer("lenient:"), JsonSerializer("v2:"), {"value": [b'{"lenient:n": 1}']},
         {"value": [b'{"v2:n": 1}']}),
    ],
)  # fmt: skip
def test_columns_are_converted(old: TypeSerializer, new: TypeSerializer, before: Any, after: Any) -> None:
    assert migrate(old.schema(), new.schema(), before, len(next(iter(before.values())))) == after


CALL = said("aggregate", "{function}({argument})", function=leaf("function", "mean"), argument=leaf("column", "t.v"))
COUNT = said("aggregate", "{function}({argument})", function=leaf("function", "$COUNT$1"), argument=leaf("rows", "*"))


def state(serializer: TypeSerializer, alias: str = "m", key: str = "t.k") -> StateMeaning:
    schema = serializer.schema()
    columns = [
        StateColumn("k0", "STRING", leaf("column", key)),
        StateColumn("c$count", "BIGINT", accumulator(COUNT, "count")),
    ]
    columns += [StateColumn(f"{alias}${f.name}", str(f.type), accumulator(CALL, f.name)) for f in schema.type.fields]
    parts = {"input": leaf("table", "t"), "key": leaf("column", key)}
    return StateMeaning(
        "2_a", "s", parts, tuple(columns), serializers={CALL.text: schema.model_dump_json(by_alias=True)}
    )


OLD, NEW = dataclass_(total=float, gone=str), dataclass_(total=float, count=(int, 3), tags=(list[str] | None, None))


def test_a_state_is_judged_by_its_snapshots() -> None:
    found = judge(state(OLD), state(NEW, "renamed"))
    assert found.fate is Fate.CONVERT
    assert "accumulator of mean(t.v): fields added count, tags and removed gone" in found.reason
    assert found.columns["renamed$total"] == "renamed$total"
    assert judge(state(NEW), state(NEW)).fate is Fate.KEEP
    refused = judge(state(OLD), state(dataclass_(total=int)))
    assert refused.fate is Fate.INCOMPATIBLE
    assert (
        refused.reason
        == "accumulator of mean(t.v): field total was DOUBLE and is BIGINT: types of fields cannot change"
    )


def test_keys_never_evolve() -> None:
    found = judge(state(OLD), state(NEW, key="t.other{STRING}"))
    assert found.fate is Fate.INCOMPATIBLE
    assert "key" in found.reason


def test_a_class_that_is_gone_is_told() -> None:
    consent.grant(["nowhere_at_all"])
    schema = OLD.schema().model_copy(update={"serializer": "nowhere_at_all:Snapshot"})
    with pytest.raises(StateError, match="cannot be read"):
        snapshot_of(schema)
    with pytest.raises(StateError, match="is gone"):
        DataclassSnapshot("nowhere_at_all:State").restore_serializer()


def test_files_are_converted_and_it_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    old, new = state(OLD), state(NEW, "renamed")
    file = tmp_path / "old.parquet"
    columns = {"k0": ["x", None], "c$count": [2, 1], "m$total": [1.5, None], "m$gone": ["p", "q"]}
    pq.write_table(pa.table(columns), file)
    saved = SavedState(
        "2_a", "s", tuple((each.name, each.type) for each in old.columns), ("k0",), False, 0, old.parts,
        tuple(each.meaning for each in old.columns), (), 8, 2, 0, {}, old.serializers,
    )  # fmt: skip
    with caplog.at_level(logging.INFO, logger="rekindle.savepoints"):
        written = convert(saved, [file], evolve(saved.meaning, new).changes, tmp_path / "scratch")
    assert pa.concat_tables(map(pq.read_table, written)).to_pydict() == {
        "k0": ["x", None], "c$count": [2, 1], "renamed$total": [1.5, None], "renamed$count": [3, 3],
        "renamed$tags": [None, None],
    }  # fmt: skip
    assert (
        "2_a:s: accumulator of mean(t.v) converted (fields added count, tags and removed gone), 2 rows" in caplog.text
    )
