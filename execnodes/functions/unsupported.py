"""Functions of Flink that there are not, and what to write instead."""

from __future__ import annotations

_VARIANT = "There are no values of type VARIANT; take parts of a document with JSON_VALUE, JSON_QUERY or JSON_EXISTS."
_BITMAP = "There are no values of type BITMAP; count with COUNT(DISTINCT …), keep members with ARRAY_AGG(DISTINCT …)."
_OBJECT = "Structured types of Java do not exist here; write ROW(…), or CAST(ROW(…) AS ROW<name TYPE, …>) for names."
_MODEL = "Models do not exist here; call yours in a function written in Python (docs/functions.md)."

INSTEAD = {
    "PARSE_JSON": _VARIANT,
    "TRY_PARSE_JSON": _VARIANT,
    **dict.fromkeys(
        (
            *(f"BITMAP_{name}" for name in ("AND", "ANDNOT", "BUILD", "CARDINALITY", "FROM_BYTES", "OR", "XOR")),
            *(f"BITMAP_{name}" for name in ("TO_ARRAY", "TO_BYTES", "TO_STRING")),
            *(f"BITMAP_{name}_AGG" for name in ("AND", "BUILD", "OR", "XOR")),
            *(f"BITMAP_{name}_CARDINALITY_AGG" for name in ("AND", "BUILD", "OR", "XOR")),
        ),
        _BITMAP,
    ),
    "OBJECT_OF": _OBJECT,
    "OBJECT_UPDATE": _OBJECT,
    "ML_PREDICT": _MODEL,
    "ML_EVALUATE": _MODEL,
    "SOURCE_WATERMARK": "Write the watermark out: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.",
    "HASH_CODE": "Flink does not document it, and its values are none to keep; write MD5 or SHA256.",
}
"""By name: the way out."""
