"""The JSON Schema of plans, made from the node classes; published beside this file, one for each engine version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from execnodes.core.registry import keys, lookup
from execnodes.core.version import ENGINE_VERSION
from plans.format.document import PlanDocument, schema_id

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def path(engine_version: str = ENGINE_VERSION) -> Path:
    """Where the schema of a release lies."""
    return Path(__file__).with_name(f"plan-{engine_version}.schema.json")


def published(engine_version: str = ENGINE_VERSION) -> dict[str, Any]:
    """The schema as it was published."""
    schema: dict[str, Any] = json.loads(path(engine_version).read_text(encoding="utf-8"))
    return schema


def render() -> str:
    """The text of the schema of this release, from the classes as they are now."""
    return json.dumps(build(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def build() -> dict[str, Any]:
    """The schema: the frame, and for each node type the properties of its class."""
    classes = {key: lookup(key) for key in keys()}
    # "serialization" describes what is written: durations, for one, are texts there.
    models: list[type[BaseModel]] = [PlanDocument, *dict.fromkeys(classes.values())]
    references, definitions = models_json_schema([(model, "serialization") for model in models], by_alias=True)
    frame = definitions["$defs"].pop(references[PlanDocument, "serialization"]["$ref"].rsplit("/", 1)[1])
    frame["properties"]["$schema"] = {"const": schema_id(ENGINE_VERSION)}
    frame["properties"]["engineVersion"] = {"const": ENGINE_VERSION}
    frame["properties"]["nodes"] = {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    types = [str(key) for key in classes]
    definitions["$defs"]["Node"] = {
        "type": "object",
        "required": ["id", "type"],
        "properties": {"type": {"enum": types}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": str(key)}}},
                "then": {"$ref": references[cls, "serialization"]["$ref"]},
            }
            for key, cls in classes.items()
        ],
    }
    return {
        "$schema": DIALECT,
        "$id": schema_id(ENGINE_VERSION),
        **frame,
        "title": f"Rekindle compiled plan {ENGINE_VERSION}",
        **definitions,
    }
