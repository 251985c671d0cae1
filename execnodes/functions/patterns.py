"""LIKE, SIMILAR TO and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BOOLEAN, INT, STRING, LogicalType, array
from execnodes.functions.families import Parameters
from execnodes.functions.function import Binding, Function, Invocation, Operands, form, function, not_empty, template
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal

_NO_ESCAPE = text_literal("\x01")
"""Spark's LIKE has an escape character in any case; this one occurs in no pattern."""
_TEXTS = Parameters.parse("TEXT, TEXT, TEXT?")


def _bind(call: Invocation) -> Binding | None:
    operands = _TEXTS.convert(call.operands)
    if operands is None:
        return None
    if (
        "LIKE" in call.name
        and len(operands) == 3
        and _constant(operands[2]) == ""
        and _constant(operands[1]) is not None
    ):
        operands = operands[:2]  # no character before a constant pattern, to Flink
    if len(operands) == 3 and (len(_constant(operands[2]) or "") != 1 or _constant(operands[2]) == "\0"):
        raise SqlError("ESCAPE needs a single character", position=call.position, hint="Write e.g. ESCAPE '!'.")
    if "LIKE" in call.name and len(operands) == 3:
        _check_like(_constant(operands[1]) or "", _constant(operands[2]) or "", call)
    if "SIMILAR" in call.name and _constant(operands[1]) is None:
        raise SqlError(
            "the pattern of SIMILAR TO must be a constant", position=call.position, hint="Use REGEXP(text, pattern)."
        )
    if "SIMILAR" in call.name:
        _check_similar(_constant(operands[1]) or "", _constant(operands[2]) if len(operands) == 3 else None, call)
    return Binding(operands, BOOLEAN.with_nullable(any(each.type.nullable for each in operands)))


def _check_like(pattern: str, escape: str, call: Invocation) -> None:
    """SqlError where the character of ESCAPE stands before another one than it may."""
    found = re.search(f"(?s){re.escape(escape)}(?![%_{re.escape(escape)}])", re.sub(re.escape(escape) * 2, "", pattern))
    if found is not None:
        raise SqlError(
            f"Invalid escape sequence in {pattern!r}",
            position=call.position,
            hint=f"Behind {escape} stands %, _ or {escape}; write {escape * 2} for the character itself.",
        )


def _check_similar(pattern: str, escape: str | None, call: Invocation) -> None:
    """SqlError for what is no regular expression by itself: with what stands around it, it may be another one."""
    if not well_formed(_body(pattern, escape)):
        raise SqlError(
            f"Invalid regular expression {pattern!r}",
            position=call.position,
            hint="Close every bracket and parenthesis, or put the character of ESCAPE in front of it.",
        )


def _constant(expression: Expression) -> str | None:
    return str(expression.value) if isinstance(expression, Literal) and expression.value is not None else None


def _lower_like(negated: str) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        text, pattern, *escape = scope.texts(call.operands)
        return f"({text} {negated}LIKE {pattern} ESCAPE {escape[0] if escape else _NO_ESCAPE})"

    return lower


def _lower_similar(negated: str) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        escape = _constant(call.operands[2]) if len(call.operands) == 3 else None
        pattern = similar_to_regex(_constant(call.operands[1]) or "", escape)
        return f"({negated}rlike({scope.text(call.operands[0])}, {text_literal(pattern)}))"

    return lower


def similar_to_regex(pattern: str, escape: str | None = None) -> str:
    """The Java regular expression of a SIMILAR TO pattern; the whole text has to match."""
    return f"(?s)\\A(?:{_body(pattern, escape)})\\z"


def _body(pattern: str, escape: str | None) -> str:
    made, at, bracket = list[str](), 0, False
    while at < len(pattern):
        each = pattern[at]
        if each == escape and at + 1 < len(pattern):
            at += 1
            made.append(re.escape(pattern[at]))
        elif bracket or each == "[":
            bracket = each != "]"
            made.append("\\\\" if each == "\\" else each)
        else:
            made.append({"%": ".*", "_": ".", "\\": "\\\\", "$": "\\$"}.get(each, each))
        at += 1
    return "".join(made)


def _matching(name: str, lower: Callable[[str], Callable[[Scope, Call], str]]) -> tuple[Function, Function]:
    plain = Function(name, (f"TEXT {name} TEXT [ESCAPE TEXT]",), _bind, lower(""))
    return plain, Function(f"NOT {name}", (f"TEXT NOT {name} TEXT [ESCAPE TEXT]",), _bind, lower("NOT "))


LIKE = _matching("LIKE", _lower_like)
SIMILAR_TO = _matching("SIMILAR TO", _lower_similar)


def like_to_regex(pattern: str, escape: str | None = None) -> str:
    """The Java regular expression of a LIKE pattern: `_` is any character but those that end a line."""
    made, at = list[str](), 0
    while at < len(pattern):
        each = pattern[at]
        if each == escape and at + 1 < len(pattern):
            at += 1
            made.append(_literal(pattern[at]))
        else:
            made.append({"%": "(?s:.*)", "_": "."}.get(each) or _literal(each))
        at += 1
    return f"\\A(?:{''.join(made)})\\z"


def _literal(character: str) -> str:
    return f"\\{character}" if character in "\\^$.|?*+()[]{}" else character


def _has_single(operands: Operands) -> bool:
    """Whether there may be a `_` that is not escaped: in a constant, or in any pattern of a column."""
    if not isinstance(operands[1], Literal):
        return True
    pattern, escape = _constant(operands[1]) or "", _constant(operands[2]) if len(operands) == 3 else None
    return "_" in (pattern if escape is None else re.sub(f"(?s){re.escape(escape)}.", "", pattern))


def _lower_like_2(negated: str) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        text, pattern = scope.texts(call.operands[:2])
        constant = _constant(call.operands[1])
        if constant is not None:
            escape = _constant(call.operands[2]) if len(call.operands) == 3 else None
            return f"({negated}rlike({text}, {text_literal(like_to_regex(constant, escape))}))"
        if len(call.operands) == 2:
            return f"({negated}rlike({text}, concat({_BEGIN}, {_regex_of(pattern)}, {_END})))"
        escape = _constant(call.operands[2]) or ""
        for escaped, mark in zip((escape, "%", "_"), _MARKS, strict=True):
            pattern = f"replace({pattern}, {text_literal(escape + escaped)}, {text_literal(mark)})"
        regex = _regex_of(pattern)
        for mark, escaped in zip(_MARKS, (escape, "%", "_"), strict=True):
            regex = f"replace({regex}, {text_literal(mark)}, {text_literal(_literal(escaped))})"
        matches = f"{negated}rlike({text}, concat({_BEGIN}, {regex}, {_END}))"
        # Spark's LIKE fails where the character of ESCAPE stands before another one than it may.
        return f"(if(contains({pattern}, {text_literal(escape)}), {_lower_like(negated)(scope, call)}, {matches}))"

    return lower


def _regex_of(pattern: str) -> str:
    """Spark's text for the regular expression of a LIKE pattern in a column, where nothing is escaped."""
    quoted = f"regexp_replace({pattern}, {text_literal(_SPECIAL)}, {text_literal(_QUOTED)})"
    return f"replace(replace({quoted}, '_', '.'), '%', '(?s:.*)')"


_MARKS = ("\ue000", "\ue001", "\ue002")
"""Stand for the character of ESCAPE, `%` and `_` that are escaped; private characters of Unicode."""


_SPECIAL = r"([\\^$.|?*+()\[\]{}])"
_QUOTED = r"\\$1"
_BEGIN, _END = text_literal(r"\A(?:"), text_literal(r")\z")
# Versions 1 let `_` stand for the end of a line, too.
LIKE_2 = tuple(
    replace(old, lower=_lower_like_2(negated), version=2, since="2.0", only=_has_single)
    for old, negated in zip(LIKE, ("", "NOT "), strict=True)
)


def _valid(version: Callable[[Scope, Call], str], otherwise: str) -> Callable[[Scope, Call], str]:
    """As `version`, but a constant pattern that is none gives something else, which made versions 1 fail."""

    def lower(scope: Scope, call: Call) -> str:
        pattern = _constant(call.operands[1])
        if pattern is None or well_formed(pattern):
            return version(scope, call)
        text = scope.text(call.operands[0])
        return otherwise.format(text, type=spark_type(call.type))

    return lower


def _renewed(old: Function, otherwise: str = "CAST(NULL AS {type})") -> Function:
    return replace(old, lower=_valid(old.lower, otherwise), version=2, since="1.3", only=_malformed)


def _malformed(operands: Operands) -> bool:
    pattern = _constant(operands[1])
    return pattern is not None and not well_formed(pattern)


def well_formed(pattern: str) -> bool:
    """Whether brackets are closed and something stands before each quantifier and behind each backslash."""
    bare = re.sub(r"\\Q.*?(\\E|$)|\\.", "a", pattern, flags=re.DOTALL)
    depth = classes = 0
    before = ""
    for at, each in enumerate(bare):
        if each == "\\":
            return False
        if classes:
            opened = bare[at - 1] == "[" or bare[at - 2 : at] == "[^"
            classes += (each == "[") - (each == "]" and not opened)
        elif each == "[":
            classes = 1
        elif each in "()":
            depth += 1 if each == "(" else -1
        elif each in "*+?" and before in ("", "(", "|") and not (each == "?" and before == "("):
            return False
        if depth < 0:
            return False
        before = each
    return depth == 0 and classes == 0


REGEXP = function("REGEXP", form("TEXT, TEXT", BOOLEAN), sql="({1} <> '' AND rlike({0}, {1}))")
# Version 1 gave FALSE for a NULL where the pattern is empty.
REGEXP_2 = replace(
    REGEXP,
    lower=_valid(
        template("if({0} IS NULL OR {1} IS NULL, NULL, {1} <> '' AND rlike({0}, {1}))"),
        "if({0} IS NULL, NULL, FALSE)",
    ),
    version=2,
    since="1.3",
    only=lambda t: not not_empty(t[1]) or _malformed(t),
)
VALID = "try_to_binary(regexp_extract('', concat('|', {1}), 0), 'utf-8') IS NOT NULL"
"""Whether a pattern that no plan knows is one; with `|` in front it matches the empty text, and fails if it is none.
`try_to_binary` alone would hide what fails in the pattern's own expression, so `SEEN` comes first."""
SEEN = "length({1}) >= 0"


def _unknown(operands: Operands) -> bool:
    return not isinstance(operands[1], Literal)


def _of_columns(old: Function, valid: str, otherwise: str = "NULL") -> Function:
    """As `old`, for patterns that are no constants: these may be none, which made the versions before fail."""
    return replace(
        old, lower=template(f"if({SEEN} AND {VALID}, {valid}, {otherwise})"), version=3, since="1.4", only=_unknown
    )


REGEXP_3 = _of_columns(REGEXP, "{1} <> '' AND rlike({0}, {1})", "if({0} IS NULL OR {1} IS NULL, NULL, FALSE)")
_LITERALLY = r"replace(replace({2}, '\\', '\\\\'), '$', '\\$')"
REGEXP_REPLACE = function(
    "REGEXP_REPLACE", form("TEXT, TEXT, TEXT", STRING), sql=f"regexp_replace({{0}}, {{1}}, {_LITERALLY})"
)
REGEXP_COUNT = function("REGEXP_COUNT", form("TEXT, TEXT", INT, nullable=True), sql="regexp_count({0}, {1})")
REGEXP_INSTR = function("REGEXP_INSTR", form("TEXT, TEXT", INT, nullable=True), sql="regexp_instr({0}, {1})")
REGEXP_SUBSTR = function("REGEXP_SUBSTR", form("TEXT, TEXT", STRING, nullable=True), sql="regexp_substr({0}, {1})")
# Version 1 gave NULL for a match of no characters.
REGEXP_SUBSTR_2 = replace(
    REGEXP_SUBSTR,
    lower=_valid(template("if(rlike({0}, {1}), regexp_extract({0}, {1}, 0), NULL)"), "CAST(NULL AS {type})"),
    version=2,
    since="1.3",
)
OF_ONE_PATTERN = tuple(map(_renewed, (REGEXP_REPLACE, REGEXP_COUNT, REGEXP_INSTR)))
OF_PATTERNS_IN_COLUMNS = (
    _of_columns(REGEXP_REPLACE, f"regexp_replace({{0}}, {{1}}, {_LITERALLY})"),
    _of_columns(REGEXP_COUNT, "regexp_count({0}, {1})"),
    _of_columns(REGEXP_INSTR, "regexp_instr({0}, {1})"),
    _of_columns(REGEXP_SUBSTR, "if(rlike({0}, {1}), regexp_extract({0}, {1}, 0), NULL)"),
)


def _bind_group(default: int, returns: LogicalType) -> Callable[[Invocation], Binding | None]:
    """Text, pattern and the number of a group, `default` if it is left out."""

    def bind(call: Invocation) -> Binding | None:
        operands = Parameters.parse("TEXT, TEXT, INT?").convert(call.operands)
        if operands is None:
            return None
        number = () if len(operands) == 3 else (Literal(value=default, type=INT.not_null()),)
        return Binding((*operands, *number), returns)

    return bind


def _group_missing(call: Call) -> bool:
    """Whether a constant pattern has no group of the constant number asked for."""
    pattern = _constant(call.operands[1])
    number = call.operands[2]
    if pattern is None or not isinstance(number, Literal) or number.value is None:
        return False
    return not 0 <= int(number.value) <= _groups(pattern)


def _groups(pattern: str) -> int:
    """Capturing groups of a Java regular expression."""
    bare = re.sub(r"\\Q.*?(\\E|$)|\\.|\[(?:\\.|[^]\\])*\]", "", pattern, flags=re.DOTALL)
    return len(re.findall(r"\((?!\?)|\(\?<(?![=!])", bare))


def _lower_extract(scope: Scope, call: Call) -> str:
    """NULL where nothing matches, or where there is no such group."""
    if _group_missing(call):
        return "CAST(NULL AS STRING)"
    text, pattern, number = scope.texts(call.operands)
    return scope.share_some(
        (text, pattern), [0, 1], lambda t: f"if(rlike({t[0]}, {t[1]}), regexp_extract({t[0]}, {t[1]}, {number}), NULL)"
    )


REGEXP_EXTRACT = Function(
    "REGEXP_EXTRACT", ("REGEXP_EXTRACT(TEXT, TEXT, INT?)",), _bind_group(0, STRING), _lower_extract
)


def _lower_extract_all(scope: Scope, call: Call) -> str:
    if _group_missing(call):
        return "CAST(NULL AS ARRAY<STRING>)"
    return f"regexp_extract_all({', '.join(scope.texts(call.operands))})"


REGEXP_EXTRACT_ALL = Function(
    "REGEXP_EXTRACT_ALL", ("REGEXP_EXTRACT_ALL(TEXT, TEXT, INT?)",), _bind_group(1, array(STRING)), _lower_extract_all
)
WITH_GROUPS = tuple(map(_renewed, (REGEXP_EXTRACT, REGEXP_EXTRACT_ALL)))


def _of_unknown_groups(old: Function, valid: str) -> Function:
    """As `_of_columns`, and the number of the group may be of no group, too."""
    asked = f"{SEEN} AND {{2}} >= 0 AND {VALID.replace(', 0)', ', {2})')}"
    return replace(
        old,
        lower=template(f"if({asked}, {valid}, NULL)"),
        version=3,
        since="1.4",
        only=lambda t: _unknown(t) or not isinstance(t[2], Literal),
    )


GROUPS_IN_COLUMNS = (
    _of_unknown_groups(REGEXP_EXTRACT, "if(rlike({0}, {1}), regexp_extract({0}, {1}, {2}), NULL)"),
    _of_unknown_groups(REGEXP_EXTRACT_ALL, "regexp_extract_all({0}, {1}, {2})"),
)
