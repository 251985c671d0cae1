"""Avro schemas of accumulators: their columns, and Avro's rules of schema resolution for what was written before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.errors import FunctionError
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    Field,
    LogicalType,
    array,
    map_of,
    row,
)

Schema = str | Mapping[str, Any] | Sequence[Any]
_PRIMITIVES = {
    "boolean": BOOLEAN, "int": INT, "long": BIGINT, "float": FLOAT, "double": DOUBLE, "bytes": BYTES, "string": STRING,
}  # fmt: skip
_PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def parsed(schema: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A record schema; FunctionError if it is none."""
    try:
        found = json.loads(schema) if isinstance(schema, str) else schema
    except json.JSONDecodeError as error:
        raise FunctionError(f"the Avro schema is not JSON: {error}") from error
    if not isinstance(found, Mapping) or found.get("type") != "record" or not found.get("fields"):
        raise FunctionError("an accumulator's Avro schema is a record with fields")
    columns(found)
    return found


def columns(record: Mapping[str, Any]) -> LogicalType:
    """The ROW that holds a record; FunctionError for a type that has no column."""
    return row(*(Field(each["name"], _type(each["type"])) for each in record["fields"]))


def essence(schema: Schema) -> Schema:
    """A schema without what does not change values that are written: defaults, aliases, documentation."""
    if isinstance(schema, Mapping):
        kept = {key: each for key, each in schema.items() if key not in ("doc", "default", "aliases")}
        return {key: each if isinstance(each, int) else essence(each) for key, each in kept.items()}
    return schema if isinstance(schema, str) else [essence(each) for each in schema]


def kind(schema: Schema) -> str:
    """``int``, ``record``, ``union`` and so on."""
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, Mapping):
        return "union"
    named = schema["type"]
    return named if isinstance(named, str) else kind(named)


def optional(schema: Schema) -> tuple[Schema, bool]:
    """A schema without ``null``, and whether it had it; FunctionError for another union."""
    if kind(schema) != "union" or isinstance(schema, str | Mapping):
        return schema, False
    others = [each for each in schema if each != "null"]
    if len(others) != 1:
        raise FunctionError(
            f"the union {json.dumps(schema)} is not supported", hint="Only null and one other type are."
        )
    return others[0], len(others) < len(schema)


def field_of(record: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The writer's field that a reader's field is read from, by name or alias."""
    names = [wanted["name"], *wanted.get("aliases", ())]
    return next((each for name in names for each in record["fields"] if each["name"] == name), None)


def full_name(schema: Mapping[str, Any]) -> str:
    """Namespace and name."""
    name = str(schema["name"])
    return f"{schema['namespace']}.{name}" if schema.get("namespace") and "." not in name else name


def problem(writer: Schema, reader: Schema, at: str = "") -> str | None:
    """Why what was written cannot be read; None if it can."""
    (was, was_null), (now, may_null) = optional(writer), optional(reader)
    place = f"field {at}" if at else "the record"
    if was_null and not may_null:
        return f"{place} could be null and cannot be any longer"
    one, other = kind(was), kind(now)
    if one != other:
        return None if other in _PROMOTIONS.get(one, ()) else f"{place} was {one} and is {other}"
    if isinstance(was, str) or isinstance(now, str) or not isinstance(was, Mapping) or not isinstance(now, Mapping):
        return None
    match one:
        case "array":
            return problem(was["items"], now["items"], f"{at}[]")
        case "map":
            return problem(was["values"], now["values"], f"{at}[]")
        case "enum" | "fixed" | "record" if full_name(was) != full_name(now):
            return f"{place} was {full_name(was)} and is {full_name(now)}: names and namespaces cannot change"
        case "fixed" if was["size"] != now["size"]:
            return f"{place} had {was['size']} bytes and has {now['size']}"
        case "enum":
            lost = [each for each in was["symbols"] if each not in now["symbols"]]
            return f"{place} lost the symbol {lost[0]} and has no default" if lost and "default" not in now else None
        case "record":
            return _record_problem(was, now, at)
    return None


def _record_problem(was: Mapping[str, Any], now: Mapping[str, Any], at: str) -> str | None:
    for each in now["fields"]:
        path = f"{at}.{each['name']}" if at else str(each["name"])
        written = field_of(was, each)
        if written is None and "default" not in each:
            return f"field {path} is new and has no default"
        found = None if written is None else problem(written["type"], each["type"], path)
        if found is not None:
            return found
    return None


def converted(value: Any, writer: Schema, reader: Schema) -> Any:
    """A value that was written under one schema as another one has it; `problem` must have found none."""
    (was, _), (now, _) = optional(writer), optional(reader)
    if value is None:
        return None
    one, other = kind(was), kind(now)
    if one != other:
        return _promoted(value, other)
    if isinstance(was, str) or isinstance(now, str) or not isinstance(was, Mapping) or not isinstance(now, Mapping):
        return value
    match one:
        case "array":
            return [converted(each, was["items"], now["items"]) for each in value]
        case "map":
            return {key: converted(each, was["values"], now["values"]) for key, each in value.items()}
        case "enum":
            return value if value in now["symbols"] else now["default"]
        case "record":
            return {each["name"]: _field_value(value, was, each) for each in now["fields"]}
    return value


def _field_value(value: Mapping[str, Any], writer: Mapping[str, Any], wanted: Mapping[str, Any]) -> Any:
    written = field_of(writer, wanted)
    if written is None:
        return default(wanted)
    return converted(value.get(written["name"]), written["type"], wanted["type"])


def default(wanted: Mapping[str, Any]) -> Any:
    """A field's default as a value; bytes are written as text in schemas."""
    inner, _ = optional(wanted["type"])
    given = wanted["default"]
    return given.encode("latin-1") if kind(inner) in ("bytes", "fixed") and isinstance(given, str) else given


def _promoted(value: Any, to: str) -> Any:
    if to in ("float", "double"):
        return float(value)
    if to == "bytes":
        return str(value).encode()
    return value.decode() if to == "string" else value


def _type(schema: Schema) -> LogicalType:
    inner, nullable = optional(schema)
    found = _plain_type(inner)
    return found if nullable else found.not_null()


def _plain_type(schema: Schema) -> LogicalType:
    name = kind(schema)
    if name in _PRIMITIVES:
        return _PRIMITIVES[name]
    if isinstance(schema, Mapping):
        match name:
            case "enum":
                return STRING
            case "fixed":
                return BYTES
            case "array":
                return array(_type(schema["items"]))
            case "map":
                return map_of(STRING.not_null(), _type(schema["values"]))
            case "record":
                return columns(schema)
    raise FunctionError(
        f"the Avro type {json.dumps(schema)} is not supported", hint="Write named types out where they are used."
    )
