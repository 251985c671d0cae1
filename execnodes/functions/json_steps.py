"""Steps of JSON paths since 1.6: places from the end, several places, slices, filters and lengths."""

from __future__ import annotations

import re
from dataclasses import dataclass

from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

OTHER_MARK = "\ue001"
"""Before numbers, TRUE and FALSE in a parsed document (`json_paths`)."""
_MEMBERS = "ARRAY<VARIANT>"
_INTEGER = r"\s*-?\d+\s*"
_FIELD = r"(?:\.[^.\[\]*()?@\s'\"=!<>&|]+|\['[^']*'\])*"
_CONSTANT = r"-?\d+(?:\.\d+)?|'[^'\\]*'|\"[^\"\\]*\"|true|false"
_COMPARISON = rf"\s*@({_FIELD})\s*(==|!=|<=|>=|<|>)\s*({_CONSTANT})\s*"
_FILTER = re.compile(rf"\[\s*\?\s*\(({_COMPARISON}(?:(?:&&|\|\|){_COMPARISON})*)\)\s*\]")
_PLACES = re.compile(rf"\[({_INTEGER}(?:,{_INTEGER})+|\s*-\d+\s*)\]")
_SLICE = re.compile(r"\[\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*\d*\s*)?\]")
_LENGTH = re.compile(r"\.(?:length|size)\(\)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One that Spark's paths have not got; then a definite path may follow."""

    kind: str
    """places, slice, filter or length."""
    text: str
    """What stands between the brackets."""
    after: str = "$"

    @property
    def many(self) -> bool:
        """Whether it leads to several places."""
        return self.kind in ("slice", "filter") or (self.kind == "places" and "," in self.text)

    def of(self, scope: Scope, value: str) -> str:
        """What it leads to in one VARIANT, which is repeated: a VARIANT, or an ARRAY of them if it is `many`."""
        members = f"try_cast({value} AS {_MEMBERS})"
        if self.kind == "length":
            entries = f"try_cast({value} AS MAP<STRING, VARIANT>)"
            size = (
                f"coalesce(if({members} IS NULL, NULL, size({members})), if({entries} IS NULL, NULL, size({entries})))"
            )
            return f"try_parse_json(concat('\"', {text_literal(OTHER_MARK)}, {size}, '\"'))"
        if self.kind == "filter":
            each = scope.fresh()
            return f"filter({members}, {each} -> {_condition(self.text, each)})"
        if self.kind == "slice":
            first, last = (part.strip() for part in self.text.split(":")[:2])
            start, end = _from_start(members, first, "0"), _from_start(members, last, f"size({members})")
            return f"slice({members}, {start} + 1, greatest({end} - {start}, 0))"
        places = [int(each) for each in self.text.split(",")]
        found = [f"try_element_at({members}, {at + 1 if at >= 0 else at})" for at in places]
        each = scope.fresh()
        several = f"filter(array({', '.join(found)}), {each} -> {each} IS NOT NULL)"
        return f"if({members} IS NULL, NULL, {several})" if self.many else found[0]


def _from_start(members: str, place: str, otherwise: str) -> str:
    if not place:
        return otherwise
    return f"greatest(size({members}) + ({place}), 0)" if place.startswith("-") else f"least({place}, size({members}))"


def read_step(path: str, at: int) -> tuple[Step, int] | None:
    """The step that stands at a place of a path, and where it ends."""
    for kind, expression in (("filter", _FILTER), ("places", _PLACES), ("slice", _SLICE), ("length", _LENGTH)):
        found = expression.match(path, at)
        if found is not None:
            text = f"{found[1]}:{found[2]}" if kind == "slice" else found[1] if kind != "length" else ""
            return Step(kind, text), found.end()
    return None


def _condition(text: str, member: str) -> str:
    """AND binds tighter than OR; there are no parentheses."""
    either = (" AND ".join(_comparison(each, member) for each in part.split("&&")) for part in text.split("||"))
    return f"({' OR '.join(f'({each})' for each in either)})"


def _comparison(text: str, member: str) -> str:
    """Values of another kind, and those that are not there, are unlike any."""
    found = re.fullmatch(_COMPARISON, text)
    if found is None:
        raise ValueError(f"{text!r} is no comparison")
    field, operator, constant = found[1], found[2].replace("==", "="), found[3]
    value = f"CAST(variant_get({member}, {text_literal('$' + field)}, 'variant') AS STRING)"
    number = f"if(left({value}, 1) = {text_literal(OTHER_MARK)}, substring({value}, 2), NULL)"
    if constant.startswith(("'", '"')):
        bare = f"if(left({value}, 1) = {text_literal(OTHER_MARK)}, NULL, substring({value}, 2))"
        test = f"{bare} {operator} {text_literal(constant[1:-1])}"
    elif constant in ("true", "false"):
        test = f"{number} {operator} '{constant}'"
    else:
        test = f"try_cast({number} AS DOUBLE) {operator} CAST({constant} AS DOUBLE)"
    return f"coalesce({test}, {'TRUE' if operator == '!=' else 'FALSE'})"
