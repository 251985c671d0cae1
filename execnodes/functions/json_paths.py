"""JSON documents in Spark SQL: paths, and a way to parse that keeps numbers as they are written.

Spark parses ``1.50`` to 1.5. So scalars are rewritten to texts with a mark before a document is parsed: ``"a": 1.50``
to ``"a": "<N>1.50"`` and ``"b": "x"`` to ``"b": "<S>x"``. The mark also tells a text from a number and from a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from execnodes.core.errors import Position, SqlError
from execnodes.functions.json_scans import OTHER_MARK, TEXT_MARK
from execnodes.functions.json_steps import Step, read_step
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXTS = text_literal(rf'(?s)\G((?:[^"]++|{_STRING}(?=\s*+:))*+)"([^"\\]*+(?:\\.[^"\\]*+)*+)"(?!\s*+:)')
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_OTHERS = text_literal(rf'(?s)\G((?:[^"0-9tf-]++|{_STRING})*+)({_NUMBER}|true|false)(?![\w.+-])')


def parsed(doc: str) -> str:
    """A VARIANT of a document with marked scalars; NULL if it is no JSON."""
    texts = f"regexp_replace({doc}, {_TEXTS}, {_marked(TEXT_MARK)})"
    return f"try_parse_json(regexp_replace({texts}, {_OTHERS}, {_marked(OTHER_MARK)}))"


def _marked(mark: str) -> str:
    return text_literal(f'$1"{mark}$2"')


def unmarked(json: str) -> str:
    """JSON text without marks."""
    other, start = text_literal(f'"{OTHER_MARK}([^"]*)"'), text_literal(f'"{TEXT_MARK}')
    return f"replace(regexp_replace({json}, {other}, '$1'), {start}, '\"')"


def is_scalar(text: str) -> str:
    """Whether the text of a VARIANT is that of a number, boolean or text."""
    return f"left({text}, 1) IN ({text_literal(TEXT_MARK)}, {text_literal(OTHER_MARK)})"


@dataclass(frozen=True, slots=True)
class Path:
    """A JSON path: steps of definite paths, between them a wildcard."""

    lax: bool
    parts: tuple[str | Step, ...]
    """Definite paths in Spark's notation, from ``$``; steps that Spark has not got."""
    is_loose: bool = False
    """Whether it is written in a form that versions since 2.0 read: without ``$``, or with a point before ``[``."""

    @property
    def definite(self) -> bool:
        """Whether the path leads to one place."""
        return not any(isinstance(each, str) or each.many for each in self.parts[1:])

    @property
    def aggregates_many(self) -> bool:
        """Whether a function is called of what is at several places, of which Flink has its own idea."""
        kinds = [each.kind for each in self.parts if isinstance(each, Step)]
        return not self.definite and ("function" in kinds or {"scan", "length"} <= set(kinds))

    @property
    def is_later(self) -> bool:
        """Whether there are steps that versions of functions before 2.1 have not got."""
        return any(isinstance(each, Step) and each.is_later for each in self.parts)

    @property
    def has_steps(self) -> bool:
        """Whether there are steps that versions of functions before 2.0 have not got."""
        return self.is_loose or any(isinstance(each, Step) for each in self.parts)


_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]*()?@\s'\"]+)|\.?\['([^']*)'\]|\.?\[\"([^\"]*)\"\]|\[(\d+)\]|(\[\*\]|\.\*)")


_BARE, _DOTTED = re.compile(r"\w"), re.compile(r"\.\[['\"]")


def parse_path(text: str, position: Position | None) -> Path:
    """Read ``lax $.a.b[0]['c'][*]``; a path without mode is strict. SqlError for deep scans and other filters."""
    mode = _MODE.fullmatch(text)
    lax, spec = (mode[1].lower() == "lax", mode[2].strip()) if mode else (False, text.strip())
    is_loose = _BARE.match(spec) is not None or _DOTTED.search(spec) is not None
    spec = f"$.{spec}" if _BARE.match(spec) else spec
    parts, at = list[str | Step](["$"]), 1
    while at < len(spec):
        step = _STEP.match(spec, at)
        other = read_step(spec, at)
        if other is not None:
            parts.append(other[0])
            at = other[1]
            continue
        if step is None:
            break
        if step[5]:
            parts.append("$")
        else:
            name = step[1] or step[2] or step[3]
            parts[-1] = _longer(parts[-1], f"[{step[4]}]" if step[4] else f"['{name}']")
        at = step.end()
    path = Path(lax, tuple(parts), is_loose)
    if not spec.startswith("$") or at < len(spec) or "'']" in text or path.aggregates_many:
        raise SqlError(
            f"the JSON path {text!r} is not supported",
            position=position,
            hint="Write names, places, slices, comparisons, .*, [*], .. and .min() only, e.g. 'lax $.items[*].id'.",
        )
    return path


def _longer(part: str | Step, further: str) -> str | Step:
    return part + further if isinstance(part, str) else replace(part, after=part.after + further)


def found(scope: Scope, document: str, path: Path, *, objects: bool = False) -> str:
    """What a path leads to in a parsed document: a VARIANT, or an ARRAY of them if the path is not definite.

    With `objects` a wildcard also stands for the values of an object, in the order of their names.
    """
    if any(isinstance(each, Step) and each.reads_document for each in path.parts):
        return scope.share(document, lambda d: _found(scope, d, path, objects))
    return _found(scope, document, path, objects)


def _found(scope: Scope, document: str, path: Path, objects: bool) -> str:
    first, *rest = path.parts
    value, listed = f"variant_get({document}, {text_literal(str(first))}, 'variant')", False
    for part in rest:
        if isinstance(part, Step):
            value, listed = _step(scope, value, part, listed, document), listed or part.many
            continue
        if listed:
            each = scope.fresh()
            members = f"flatten(transform({value}, {each} -> {_members(each, objects)}))"
            if objects:
                kept = f"filter(transform({value}, {each} -> {_members(each, objects)}), {each} -> {each} IS NOT NULL)"
                members = f"flatten({kept})"
        else:
            members = scope.share(value, lambda v: _members(v, objects)) if objects else _members(value, objects)
        if part != "$":
            each = scope.fresh()
            got = f"variant_get({each}, {text_literal(part)}, 'variant')"
            members = f"filter(transform({members}, {each} -> {got}), {each} -> {each} IS NOT NULL)"
        value, listed = members, True
    return value


def _members(value: str, objects: bool) -> str:
    listed = f"try_cast({value} AS ARRAY<VARIANT>)"
    return f"coalesce({listed}, map_values(try_cast({value} AS MAP<STRING, VARIANT>)))" if objects else listed


def _step(scope: Scope, value: str, step: Step, listed: bool, document: str) -> str:
    """What a step leads to in a VARIANT, or in each of a list of them."""
    each, made = scope.fresh(), scope.share(value, lambda v: step.of(scope, v, document))
    if listed:
        of_each = f"transform({value}, {each} -> {step.of(scope, each, document)})"
        made = f"flatten(filter({of_each}, {each} -> {each} IS NOT NULL))" if step.many else of_each
    if step.after == "$":
        return made if step.many or not listed else f"filter({made}, {each} -> {each} IS NOT NULL)"
    if not listed and not step.many:
        return f"variant_get({made}, {text_literal(step.after)}, 'variant')"
    got = f"variant_get({each}, {text_literal(step.after)}, 'variant')"
    return f"filter(transform({made}, {each} -> {got}), {each} -> {each} IS NOT NULL)"
