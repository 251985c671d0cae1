"""Steps of JSON paths since 2.0: places from the end, several places, slices, filters, scans and functions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from execnodes.functions.json_filters import read_filter
from execnodes.functions.json_scans import OTHER_MARK, function_of, length_of, object_of, scan
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_MEMBERS = "ARRAY<VARIANT>"
_INTEGER = r"\s*-?\d+\s*"
_FIELD = r"(?:\.[^.\[\]*()?@\s'\"=!<>&|]+|\['[^']*'\])*"
_CONSTANT = r"-?\d+(?:\.\d+)?|'[^'\\]*'|\"[^\"\\]*\"|true|false"
_PATTERN = r"/(?:[^/\\]|\\.)+/[imsx]*"
_COMPARISON = rf"\s*@({_FIELD})\s*(?:(==|!=|<=|>=|<|>)\s*({_CONSTANT})|=~\s*({_PATTERN}))\s*"
_FILTER = re.compile(rf"\[\s*\?\s*\(({_COMPARISON}(?:(?:&&|\|\|){_COMPARISON})*)\)\s*\]")
_PLACES = re.compile(rf"\[({_INTEGER}(?:,{_INTEGER})+|\s*-\d+\s*)\]")
_SLICE = re.compile(r"\[\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*\d*\s*)?\]")
_LENGTH = re.compile(r"\.(?:length|size)\(\)$")
_FUNCTION = re.compile(r"\.(min|max|sum|avg|stddev|first|last|keys|index)\((\s*-?\d+\s*|)\)$")
_NAME = re.compile(r"'([^']+)'|\"([^\"]+)\"")
_NAMES = re.compile(rf"\.?\[\s*((?:{_NAME.pattern})(?:\s*,\s*(?:{_NAME.pattern}))+)\s*\]$")
_SCAN = re.compile(r"\.\.(?=[^.\[\]()?@\s'\"]|\[['\"*]|\[[-\d\s,:]+\]$)")


@dataclass(frozen=True, slots=True)
class Step:
    """One that Spark's paths have not got; then a definite path may follow."""

    kind: str
    """places, slice, filter, condition (a filter since 2.1), names, length, function or scan."""
    text: str
    """What stands between the brackets."""
    after: str = "$"

    @property
    def many(self) -> bool:
        """Whether it leads to several places."""
        return self.kind in ("slice", "filter", "condition", "scan") or (self.kind == "places" and "," in self.text)

    @property
    def is_later(self) -> bool:
        """Whether versions before 2.1 have not got it."""
        return self.kind in ("names", "condition")

    @property
    def reads_document(self) -> bool:
        """Whether it reads what is elsewhere in the document."""
        return self.kind == "condition" and "$" in self.text

    def _condition(self, scope: Scope, member: str, document: str) -> str:
        if self.kind == "filter":
            return _condition(self.text, member)
        found = read_filter(self.text, 0)
        if found is None:
            raise ValueError(f"{self.text!r} is no filter")
        return found[0](scope, member, document)

    def of(self, scope: Scope, value: str, document: str) -> str:
        """What it leads to in one VARIANT, which is repeated: a VARIANT, or an ARRAY of them if it is `many`."""
        members = f"try_cast({value} AS {_MEMBERS})"
        if self.kind == "length":
            return length_of(value)
        if self.kind == "function":
            return function_of(scope, value, self.text)
        if self.kind == "scan":
            return scan(scope, value)
        if self.kind == "names":
            return object_of(scope, value, [one or other for one, other in _NAME.findall(self.text)])
        if self.kind in ("filter", "condition"):
            each = scope.fresh()
            return f"filter({members}, {each} -> {self._condition(scope, each, document)})"
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


_KINDS = {
    "filter": _FILTER,
    "places": _PLACES,
    "slice": _SLICE,
    "length": _LENGTH,
    "function": _FUNCTION,
    "scan": _SCAN,
    "names": _NAMES,
}


def read_step(path: str, at: int) -> tuple[Step, int] | None:
    """The step that stands at a place of a path, and where it ends."""
    for kind, expression in _KINDS.items():
        found = expression.match(path, at)
        if found is not None and (kind != "function" or (found[1] == "index") == bool(found[2])):
            # Behind a scan a name follows as it does behind one point.
            end = found.end() - 1 if kind == "scan" and not path.startswith("[", found.end()) else found.end()
            parts = found.groups() if kind in ("slice", "function") else found.groups()[:1]
            return Step(kind, ":".join(part.strip() for part in parts if part is not None)), end
    condition = read_filter(path, at)
    return None if condition is None else (Step("condition", path[at : condition[1]]), condition[1])


def _condition(text: str, member: str) -> str:
    """AND binds tighter than OR; there are no parentheses."""
    either = (" AND ".join(_comparison(each, member) for each in part.split("&&")) for part in text.split("||"))
    return f"({' OR '.join(f'({each})' for each in either)})"


def _comparison(text: str, member: str) -> str:
    """Values of another kind, and those that are not there, are unlike any; numbers equal the texts of them."""
    found = re.fullmatch(_COMPARISON, text)
    if found is None:
        raise ValueError(f"{text!r} is no comparison")
    field, operator, constant, pattern = found[1], found[2], found[3], found[4]
    value = f"CAST(variant_get({member}, {text_literal('$' + field)}, 'variant') AS STRING)"
    is_other = f"left({value}, 1) = {text_literal(OTHER_MARK)}"
    number, bare = f"if({is_other}, substring({value}, 2), NULL)", f"if({is_other}, NULL, substring({value}, 2))"
    if pattern is not None:
        return f"rlike(coalesce(substring({value}, 2), ''), {text_literal(_whole(pattern))})"
    sign = operator.replace("==", "=").replace("!=", "=")
    if constant.startswith(("'", '"')):
        test = f"{bare} {sign} {text_literal(constant[1:-1])}"
        if sign == "=":
            same = f"try_cast({number} AS DOUBLE) = try_cast({text_literal(constant[1:-1])} AS DOUBLE)"
            test = f"coalesce({test}, {same})"
    elif constant in ("true", "false"):
        test = f"{number} {sign} '{constant}'"
    else:
        test = f"try_cast({number} AS DOUBLE) {sign} CAST({constant} AS DOUBLE)"
        test = f"coalesce({test}, {bare} = '{constant}')" if sign == "=" else test
    return f"{'NOT ' if operator == '!=' else ''}coalesce({test}, FALSE)"


def _whole(pattern: str) -> str:
    """A pattern between slashes, with its flags, for a whole text."""
    expression, _, flags = pattern[1:].rpartition("/")
    return rf"{f'(?{flags})' if flags else ''}\A(?:{expression})\z"
