"""JSON_VALUE, JSON_QUERY, JSON_EXISTS and IS JSON.

How the planner writes them (symbols are CHAR literals, paths are constants):

- ``JSON_VALUE`` (doc, path, on empty, default on empty, on error, default on error), with `result` the RETURNING type;
  "on" is NULL, ERROR or DEFAULT; a default that is not used is a NULL literal. (doc, path) alone means NULL, NULL.
- ``JSON_QUERY`` (doc, path, wrapper, on empty, on error); the wrapper is WITHOUT, CONDITIONAL or UNCONDITIONAL, "on" is
  NULL, ERROR, EMPTY ARRAY or EMPTY OBJECT; `result` may be an ARRAY of STRING.
- ``JSON_EXISTS`` (doc, path, on error), which is TRUE, FALSE, UNKNOWN or ERROR.
- ``IS JSON`` (doc, kind) with VALUE, OBJECT, ARRAY or SCALAR; ``IS NOT JSON`` likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BOOLEAN, NUMERICS, STRING, TEXTS, LogicalType, Root, char
from execnodes.functions.conversion import convert
from execnodes.functions.function import Binding, Function, Invocation, Operands, form, function
from execnodes.functions.json_paths import Path, found, is_scalar, parse_path, parsed, unmarked
from execnodes.functions.json_scans import OTHER_MARK
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal

_NULL = "NULL"


def _symbol(text: str) -> Literal:
    return Literal(value=text, type=char(len(text)).not_null())


def _word(operand: Expression) -> str:
    return str(operand.value).upper().replace("_", " ") if isinstance(operand, Literal) else ""


def _path(operand: Expression) -> Path:
    return parse_path(str(operand.value) if isinstance(operand, Literal) else "", None)


def _document(call: Invocation) -> tuple[Expression, ...] | None:
    """Document and path, if they are such."""
    if len(call.operands) < 2 or call.types[0].root not in (*TEXTS, Root.NULL):
        return None
    doc, path = call.operands[:2]
    if not isinstance(path, Literal) or path.type.root not in TEXTS:
        return None
    parse_path(str(path.value), call.position)
    return (convert(doc, STRING) if doc.type.root is Root.NULL else doc, path)


def _bind_value(call: Invocation) -> Binding | None:
    """The type is the RETURNING type, STRING without one; the value may always be NULL."""
    start = _document(call)
    if start is None or len(call.operands) not in (2, 6):
        return None
    made = (call.result or STRING).with_nullable(True)
    if made.root not in (*TEXTS, *NUMERICS, Root.BOOLEAN):
        return None
    nothing = Literal(value=None, type=made)
    rest = call.operands[2:] or (_symbol(_NULL), nothing, _symbol(_NULL), nothing)
    if any(_word(each) not in (_NULL, "ERROR", "DEFAULT") for each in (rest[0], rest[2])):
        return None
    return Binding((*start, rest[0], convert(rest[1], made), rest[2], convert(rest[3], made)), made)


def _lower_value(scope: Scope, call: Call, null_is_empty: bool = True) -> str:
    """A path that leads nowhere is an error in strict mode and empty in lax mode.

    So is JSON null, unless `null_is_empty` in strict mode, too.
    """
    document, path, *_ = call.operands
    doc = scope.text(document)
    spec = _path(path)
    on_empty, on_error = (_instead(scope, call, index, "JSON_VALUE") for index in (2, 4))

    def body(value: str) -> str:
        text = f"CAST({value} AS STRING)"
        empty = "" if spec.lax or not null_is_empty else f" WHEN is_variant_null({value}) THEN {on_empty}"
        nothing = on_empty if spec.lax else on_error
        return (
            f"CASE WHEN {is_scalar(text)} THEN {_typed(scope, text, call.type)} WHEN {doc} IS NULL THEN NULL{empty}"
            f" ELSE {nothing} END"
        )

    return scope.share(found(scope, parsed(doc), spec), body)


def _instead(scope: Scope, call: Call, index: int, name: str) -> str:
    """What stands in for a value: NULL, a default, or a failure."""
    made = spark_type(call.type)
    match _word(call.operands[index]):
        case "ERROR":
            why = "the path leads to nothing" if index == 2 else "no JSON, or the path does not fit"
            return f"CAST({scope.failure(f'{name}: {why}')} AS {made})"
        case "DEFAULT":
            return scope.text(call.operands[index + 1])
        case "EMPTY ARRAY":
            return "'[]'"
        case "EMPTY OBJECT":
            return "'{}'"
        case _:
            # NULL, which is also what stands where nothing is written.
            return f"CAST(NULL AS {made})"


def _typed(scope: Scope, text: str, t: LogicalType) -> str:
    """A scalar as the RETURNING type; one of another kind fails, whatever is said for errors."""
    bare = f"substring({text}, 2)"
    if t.root in TEXTS:
        return bare
    number = f"if(left({text}, 1) = {text_literal(OTHER_MARK)}, CAST({bare} AS {spark_type(t)}), NULL)"
    fails = scope.failure(f"JSON_VALUE: not of type {t.with_nullable(True)}: ", bare)
    return f"coalesce({number}, CAST({fails} AS {spark_type(t)}))"


JSON_VALUE = Function(
    "JSON_VALUE", ("JSON_VALUE(TEXT, path [RETURNING type] [… ON EMPTY] [… ON ERROR])",), _bind_value, _lower_value
)


def _lower_value_2(scope: Scope, call: Call) -> str:
    """A path to several places leads to a list, which is no value."""
    spec = _path(call.operands[1])
    if spec.definite:
        return _lower_value(scope, call, null_is_empty=False)
    doc = scope.text(call.operands[0])
    return f"if({doc} IS NULL, NULL, {_instead(scope, call, 2 if spec.lax else 4, 'JSON_VALUE')})"


def _has_value_steps(operands: Operands) -> bool:
    spec = _path(operands[1])
    differs = not spec.lax and operands[2:4] != operands[4:6]
    return spec.has_steps or not spec.definite or differs


# Version 1 has neither places from the end nor functions, and no path to several places; to it JSON null was empty.
JSON_VALUE_2 = replace(
    JSON_VALUE,
    lower=_lower_value_2,
    version=2,
    since="2.0",
    only=_has_value_steps,
)


# Before 2.1 paths had neither several names nor filters with paths on both sides.
JSON_VALUE_3 = replace(JSON_VALUE_2, version=3, since="2.1", only=lambda t: _path(t[1]).is_later)


def _bind_query(call: Invocation) -> Binding | None:
    start = _document(call)
    if start is None or len(call.operands) not in (2, 5):
        return None
    made = (call.result or STRING).with_nullable(True)
    if made.root not in (Root.VARCHAR, Root.ARRAY):
        return None
    rest = call.operands[2:] or (_symbol("WITHOUT"), _symbol(_NULL), _symbol(_NULL))
    if _word(rest[0]) not in ("WITHOUT", "CONDITIONAL", "UNCONDITIONAL"):
        return None
    if any(_word(each) not in (_NULL, "ERROR", "EMPTY ARRAY", "EMPTY OBJECT") for each in rest[1:]):
        return None
    if made.root is Root.ARRAY and made.element.root is not Root.VARCHAR:
        raise SqlError(
            f"JSON_QUERY does not return an ARRAY of {made.element}",
            position=call.position,
            hint="Write RETURNING ARRAY<STRING>, and CAST the result.",
        )
    if made.root is Root.ARRAY and any(_word(each) == "EMPTY OBJECT" for each in rest[1:]):
        raise SqlError(
            "EMPTY OBJECT is no ARRAY, which JSON_QUERY is to return",
            position=call.position,
            hint="Write EMPTY ARRAY, NULL or ERROR.",
        )
    return Binding((*start, *rest), made)


def _lower_query(
    scope: Scope,
    call: Call,
    none_is_list: bool = False,
    objects: bool = False,
    null_is_empty: bool = True,
    none_is_wrapped: bool = False,
) -> str:
    """JSON text of a list or object, with sorted keys; `none_is_list` if a wildcard over nothing is an empty list.

    `none_is_wrapped`: whether that list gets a wrapper. `objects`: whether a wildcard stands for the values of an
    object, too. `null_is_empty`: JSON null in strict mode.
    """
    document, path, wrapper, *_ = call.operands
    doc = scope.text(document)
    spec, wrap = _path(path), _word(wrapper)
    on_empty, on_error = (_instead(scope, call, index, "JSON_QUERY") for index in (3, 4))
    if call.type.root is Root.ARRAY:
        on_empty, on_error = (
            each.replace("'[]'", f"CAST(array() AS {spark_type(call.type)})") for each in (on_empty, on_error)
        )
    nothing = on_empty if spec.lax else on_error
    if none_is_list and spec.lax and not spec.definite:
        is_wrapped = none_is_wrapped and wrap == "UNCONDITIONAL"
        empty_list = "'[[]]'" if is_wrapped else "'[]'"
        if call.type.root is Root.ARRAY:
            members = "'[]'" if is_wrapped else ""
            empty_list = f"CAST(array({members}) AS {spark_type(call.type)})"
        nothing = f"if(try_parse_json({doc}) IS NULL, {on_error}, {empty_list})"

    def json(value: str) -> str:
        text = f"CAST({value} AS STRING)" if spec.definite else f"to_json({value})"
        if wrap == "UNCONDITIONAL" or (wrap == "CONDITIONAL" and spec.definite):
            quoted = f"if({is_scalar(text)}, concat('\"', {_escaped(text)}, '\"'), {text})" if spec.definite else text
            wrapped = f"concat('[', {quoted}, ']')"
            return wrapped if wrap == "UNCONDITIONAL" else f"if(startswith({text}, '['), {text}, {wrapped})"
        return f"if({is_scalar(text)}, NULL, {text})" if spec.definite else text

    def body(value: str) -> str:
        null = f"is_variant_null({value})" if spec.definite else "FALSE"
        empty = "" if spec.lax or not null_is_empty else f" WHEN {null} THEN {on_empty}"
        made = unmarked(json(value))
        if call.type.root is Root.ARRAY:
            made = f"from_json({made}, 'array<string>')"
        return (
            f"CASE WHEN {doc} IS NULL THEN NULL{empty} WHEN {value} IS NULL OR {null} THEN {nothing}"
            f" ELSE coalesce({made}, {nothing}) END"
        )

    return scope.share(found(scope, parsed(doc), spec, objects=objects), body)


def _escaped(text: str) -> str:
    """The inside of a JSON text."""
    return f"substring(to_json(array({text})), 3, char_length(to_json(array({text}))) - 4)"


JSON_QUERY = Function(
    "JSON_QUERY", ("JSON_QUERY(TEXT, path [… WRAPPER] [… ON EMPTY] [… ON ERROR])",), _bind_query, _lower_query
)
# To version 1 a lax path with a wildcard that leads nowhere was empty; it is an empty list.
JSON_QUERY_2 = replace(
    JSON_QUERY,
    lower=lambda scope, call: _lower_query(scope, call, none_is_list=True),
    version=2,
    since="1.3",
    only=lambda t: _path(t[1]).lax and not _path(t[1]).definite,
)


def _is_strict(operand: Expression) -> bool:
    return not _path(operand).lax


# Version 2 has no slices, filters and several places, its wildcards are not for objects, and JSON null is empty.
JSON_QUERY_3 = replace(
    JSON_QUERY_2,
    lower=lambda scope, call: _lower_query(scope, call, none_is_list=True, objects=True, null_is_empty=False),
    version=3,
    since="2.0",
    only=lambda t: _path(t[1]).has_steps or not _path(t[1]).definite or (_is_strict(t[1]) and t[3] != t[4]),
)


# To version 3 the list of a lax path that leads nowhere had no wrapper.
JSON_QUERY_4 = replace(
    JSON_QUERY_3,
    lower=lambda scope, call: _lower_query(
        scope, call, none_is_list=True, objects=True, null_is_empty=False, none_is_wrapped=True
    ),
    version=4,
    since="2.1",
    only=lambda t: _path(t[1]).is_later or (_leads_to_a_list(t) and _word(t[2]) == "UNCONDITIONAL"),
)


def _bind_exists(call: Invocation) -> Binding | None:
    start = _document(call)
    if start is None or len(call.operands) not in (2, 3):
        return None
    on_error = call.operands[2] if len(call.operands) == 3 else _symbol("FALSE")
    if _word(on_error) not in ("TRUE", "FALSE", "UNKNOWN", "ERROR"):
        return None
    return Binding((*start, on_error), BOOLEAN.with_nullable(start[0].type.nullable or _word(on_error) == "UNKNOWN"))


def _lower_exists(scope: Scope, call: Call, objects: bool = False, null_is_error: bool = False) -> str:
    document, path, on_error = call.operands
    doc, spec = scope.text(document), _path(path)
    failed = f"CAST({scope.failure('JSON_EXISTS: no JSON, or the path does not fit')} AS BOOLEAN)"
    instead = {"TRUE": "TRUE", "UNKNOWN": "CAST(NULL AS BOOLEAN)", "ERROR": failed}.get(_word(on_error), "FALSE")

    def body(value: str) -> str:
        there = f"NOT is_variant_null({value})" if spec.definite else "TRUE"
        if null_is_error and spec.definite and not spec.lax:
            there = f"if(is_variant_null({value}), {instead}, TRUE)"
        return (
            f"CASE WHEN {doc} IS NULL THEN NULL WHEN {value} IS NOT NULL THEN {there}"
            f" ELSE {'FALSE' if spec.lax else instead} END"
        )

    return scope.share(found(scope, parsed(doc), spec, objects=objects), body)


JSON_EXISTS = Function("JSON_EXISTS", ("JSON_EXISTS(TEXT, path [… ON ERROR])",), _bind_exists, _lower_exists)


def _bind_exists_2(call: Invocation) -> Binding | None:
    """The type is always nullable; version 1 gave NOT NULL for documents that are."""
    made = _bind_exists(call)
    return None if made is None else Binding(made.operands, BOOLEAN)


JSON_EXISTS_2 = replace(JSON_EXISTS, bind=_bind_exists_2, version=2, since="1.3", only=lambda t: not t[0].type.nullable)


def _leads_to_a_list(operands: Operands) -> bool:
    """Whether there is a list of what a lax path leads to, empty or not."""
    spec = _path(operands[1])
    return spec.lax and not spec.definite


def _lower_exists_3(scope: Scope, call: Call) -> str:
    if not _leads_to_a_list(call.operands):
        return _lower_exists(scope, call, objects=True, null_is_error=True)
    doc = scope.text(call.operands[0])
    return f"if({doc} IS NULL, NULL, try_parse_json({doc}) IS NOT NULL)"


def _has_exists_steps(operands: Operands) -> bool:
    spec = _path(operands[1])
    return spec.has_steps or not spec.definite or (not spec.lax and _word(operands[2]) != "FALSE")


# Version 2 looked into the list of a lax path, had no slices, filters and several places, and JSON null is no error.
JSON_EXISTS_3 = replace(JSON_EXISTS_2, lower=_lower_exists_3, version=3, since="2.0", only=_has_exists_steps)
JSON_EXISTS_4 = replace(JSON_EXISTS_3, version=4, since="2.1", only=lambda t: _path(t[1]).is_later)
_KINDS = {"VALUE": "", "OBJECT": " AND startswith({0}, '{{')", "ARRAY": " AND startswith({0}, '[')"}
_KINDS["SCALAR"] = " AND NOT rlike({0}, '^[\\\\[{{]')"


def _lower_is_json(negated: str) -> Callable[[Scope, Call], str]:
    """NULL is no JSON."""

    def lower(scope: Scope, call: Call) -> str:
        document, kind = call.operands
        trimmed = "ltrim(' \\n\\r\\t', {0})"
        test = _KINDS[_word(kind)].replace("{0}", trimmed)

        def body(doc: str) -> str:
            return f"({negated}coalesce(try_parse_json({doc}) IS NOT NULL{test.format(doc)}, FALSE))"

        return scope.share(scope.text(document), body)

    return lower


IS_JSON = tuple(
    function(
        f"IS {negated}JSON",
        form("TEXT, SYMBOL", BOOLEAN, nullable=False),
        sql=_lower_is_json(negated),
        words=tuple(_KINDS),
    )
    for negated in ("", "NOT ")
)
