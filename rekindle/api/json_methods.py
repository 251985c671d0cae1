"""Methods of expressions that read JSON, and what they do where there is nothing to read, by PyFlink's names."""

from __future__ import annotations

from enum import Enum
from typing import Self

from execnodes.core.types import LogicalType
from rekindle.api.operand import Operand, value


class JsonType(Enum):
    """Kinds of JSON that `is_json` asks for."""

    VALUE = "VALUE"
    SCALAR = "SCALAR"
    ARRAY = "ARRAY"
    OBJECT = "OBJECT"


class JsonExistsOnError(Enum):
    """What `json_exists` gives where a text is no JSON."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class JsonValueOnEmptyOrError(Enum):
    """What `json_value` gives where a path leads to nothing, or a text is no JSON."""

    NULL = "NULL"
    ERROR = "ERROR"
    DEFAULT = "DEFAULT"


class JsonQueryWrapper(Enum):
    """Whether `json_query` puts what it finds into an array."""

    WITHOUT_ARRAY = "WITHOUT WRAPPER"
    CONDITIONAL_ARRAY = "WITH CONDITIONAL WRAPPER"
    UNCONDITIONAL_ARRAY = "WITH UNCONDITIONAL WRAPPER"


class JsonQueryOnEmptyOrError(Enum):
    """What `json_query` gives where a path leads to nothing, or a text is no JSON."""

    NULL = "NULL"
    EMPTY_ARRAY = "EMPTY ARRAY"
    EMPTY_OBJECT = "EMPTY OBJECT"
    ERROR = "ERROR"


class JsonOnNull(Enum):
    """What becomes of a NULL in `json_object` and `json_array`."""

    NULL = "NULL ON NULL"
    ABSENT = "ABSENT ON NULL"


class JsonMethods(Operand):
    """Functions of a JSON text."""

    def json_value(
        self,
        path: object,
        returning_type: LogicalType | str | None = None,
        on_empty: JsonValueOnEmptyOrError | None = None,
        default_on_empty: object = None,
        on_error: JsonValueOnEmptyOrError | None = None,
        default_on_error: object = None,
    ) -> Self:
        """The scalar at a path of a JSON text, as STRING or as another type; NULL where nothing else is said."""
        returning = [f" RETURNING {returning_type}"] if returning_type is not None else []
        return self.joined(
            "JSON_VALUE(", self, ", ", value(path), *returning,
            *_instead(on_empty, default_on_empty, "EMPTY"), *_instead(on_error, default_on_error, "ERROR"), ")",
        )  # fmt: skip

    def json_exists(self, path: object, on_error: JsonExistsOnError | None = None) -> Self:
        """Whether a JSON text has something at a path."""
        instead = f" {on_error.value} ON ERROR" if on_error is not None else ""
        return self.joined("JSON_EXISTS(", self, ", ", value(path), f"{instead})")

    def json_query(
        self,
        path: object,
        wrapping_behavior: JsonQueryWrapper | None = None,
        on_empty: JsonQueryOnEmptyOrError | None = None,
        on_error: JsonQueryOnEmptyOrError | None = None,
    ) -> Self:
        """The JSON text at a path."""
        wrapper = f" {wrapping_behavior.value}" if wrapping_behavior is not None else ""
        empty = f" {on_empty.value} ON EMPTY" if on_empty is not None else ""
        error = f" {on_error.value} ON ERROR" if on_error is not None else ""
        return self.joined("JSON_QUERY(", self, ", ", value(path), f"{wrapper}{empty}{error})")

    @property
    def is_json(self) -> Self:
        """Whether the text is valid JSON."""
        return self.joined("(", self, " IS JSON)")

    @property
    def json_quote(self) -> Self:
        """The text as JSON writes it, in quotes."""
        return self._call("JSON_QUOTE")

    @property
    def json_unquote(self) -> Self:
        """The text that a JSON text in quotes stands for."""
        return self._call("JSON_UNQUOTE")


def _instead(given: JsonValueOnEmptyOrError | None, default: object, when: str) -> list[object]:
    if given is None:
        return []
    parts: list[object] = [f" {given.value}"]
    if given is JsonValueOnEmptyOrError.DEFAULT:
        parts += [" ", value(default)]
    return [*parts, f" ON {when}"]
