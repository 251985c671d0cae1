"""Text functions. Lengths and places count code points, except where a function says otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import (
    BINARIES,
    BOOLEAN,
    INT,
    INTEGERS,
    MAX_LENGTH,
    STRING,
    TEXTS,
    LogicalType,
    Root,
    char,
    varchar,
)
from execnodes.functions.conversion import convert
from execnodes.functions.families import operand, varying
from execnodes.functions.function import Binding, Function, Invocation, by_count, form, function, not_empty, template
from execnodes.functions.scope import Scope
from execnodes.functions.type_rules import common_type
from execnodes.lowering.spark_sql import text_literal

UPPER = function("UPPER", form("TEXT", operand(0)), sql="upper({0})")
LOWER = function("LOWER", form("TEXT", operand(0)), sql="lower({0})")
UCASE = function("UCASE", form("TEXT", STRING), sql="upper({0})")
LCASE = function("LCASE", form("TEXT", STRING), sql="lower({0})")
REVERSE = function("REVERSE", form("TEXT", STRING, nullable=True), sql="reverse({0})")
REPEAT = function("REPEAT", form("TEXT, INT", STRING), sql="repeat({0}, {1})")
REPLACE = function("REPLACE", form("TEXT, TEXT, TEXT", STRING), sql="replace({0}, {1}, {2})")


def _lower_replace(scope: Scope, call: Call) -> str:
    """An empty text is found before each character and at the end; version 1 did not find it."""

    def body(t: Sequence[str]) -> str:
        plain = f"replace({', '.join(t)})"
        each = scope.fresh()
        between = f"transform(regexp_extract_all({t[0]}, '(?s).', 0), {each} -> concat({each}, {t[2]}))"
        return f"if({t[1]} = '', concat({t[2]}, array_join({between}, '')), {plain})"

    return scope.share_some(scope.texts(call.operands), (0, 1, 2), body)


REPLACE_2 = function(
    "REPLACE",
    form("TEXT, TEXT, TEXT", STRING),
    sql=_lower_replace,
    version=2,
    since="1.3",
    only=lambda t: not not_empty(t[1]),
)
TRANSLATE = function("TRANSLATE", form("TEXT, TEXT, TEXT", STRING), sql="translate({0}, {1}, {2})")
# Version 1 gave NULL where the characters to find or to put are NULL: then there are none.
TRANSLATE_2 = function(
    "TRANSLATE",
    form("TEXT, TEXT, TEXT", STRING),
    sql="translate({0}, coalesce({1}, ''), coalesce({2}, ''))",
    version=2,
    since="1.3",
    only=lambda t: t[1].type.nullable or t[2].type.nullable,
    nullable_by=0,
)
CHAR_LENGTH = function("CHAR_LENGTH", form("TEXT", INT), sql="char_length({0})")
CHARACTER_LENGTH = function("CHARACTER_LENGTH", form("TEXT", INT), sql="char_length({0})")
OCTET_LENGTH = function("OCTET_LENGTH", form("TEXT", INT), form("BINARY", INT), sql="octet_length({0})")
CHR = function("CHR", form("INTEGER", STRING, nullable=True), sql="chr({0})")
ASCII = function(
    "ASCII",
    form("TEXT", INT),
    sql="if({0} = '', 0, CAST(CAST(CAST(conv(hex(left(CAST({0} AS BINARY), 1)), 16, 10) AS INT) AS TINYINT) AS INT))",
)


def _joined(types: Sequence[LogicalType]) -> LogicalType:
    """CHAR if both are; as long as both together."""
    length = min(sum(t.length for t in types), MAX_LENGTH)
    return char(length) if all(t.root is Root.CHAR for t in types) else varchar(length)


def _overlaid(types: Sequence[LogicalType]) -> LogicalType:
    return varchar(min(types[0].length + types[1].length, MAX_LENGTH))


def _lower_concat(scope: Scope, call: Call) -> str:
    return f"concat({', '.join(scope.texts(call.operands))})"


BARS = function("||", form("TEXT, TEXT", _joined), sql=_lower_concat)
CONCAT = function("CONCAT", form("TEXT...", STRING), sql=_lower_concat)


def _lower_concat_ws(scope: Scope, call: Call) -> str:
    return f"concat_ws({', '.join(scope.texts(call.operands))})"


CONCAT_WS = function("CONCAT_WS", form("TEXT, TEXT...", STRING), sql=_lower_concat_ws)


def _lower_substring(scope: Scope, call: Call) -> str:
    """A start before the beginning gives '', a negative length NULL."""
    start = call.operands[1]
    parts = scope.texts(call.operands)
    length = f", {parts[2]}" if len(parts) == 3 else ""
    if isinstance(start, Literal) and isinstance(start.value, int) and start.value >= 0:
        text = f"substring({parts[0]}, {parts[1]}{length})"
    else:
        text = scope.share_some(
            parts,
            [0, 1],
            lambda t: f"if({t[1]} < - char_length({t[0]}), '', substring({t[0]}, {t[1]}{length}))",
        )
    return f"if({parts[2]} < 0, NULL, {text})" if length else text


_SLICE = (form("TEXT, INT, INT?", varying(0), nullable=True),)
SUBSTRING = function("SUBSTRING", *_SLICE, sql=_lower_substring)
SUBSTR = function("SUBSTR", *_SLICE, sql=_lower_substring)
LEFT = function("LEFT", form("TEXT, INT", varying(0), nullable=True), sql="left({0}, {1})")
RIGHT = function("RIGHT", form("TEXT, INT", varying(0), nullable=True), sql="right({0}, {1})")

_PLACE = (form("TEXT, TEXT", INT),)
POSITION = function(
    "POSITION", *_PLACE, form("TEXT, TEXT, INT", INT), sql=by_count("locate({0}, {1})", "locate({0}, {1}, {2})")
)
LOCATE = function(
    "LOCATE", *_PLACE, form("TEXT, TEXT, INT", INT), sql=by_count("locate({0}, {1})", "locate({0}, {1}, {2})")
)
# Version 1 found nothing from a start before the text; it is from the start then.
LOCATE_2 = function(
    "LOCATE",
    *_PLACE,
    form("TEXT, TEXT, INT", INT),
    sql=by_count("locate({0}, {1})", "locate({0}, {1}, greatest({2}, 1))"),
    version=2,
    since="1.3",
    only=lambda t: len(t) == 3,
)
INSTR = function(
    "INSTR", *_PLACE, form("TEXT, TEXT, INT", INT), sql=by_count("instr({0}, {1})", "locate({1}, {0}, {2})")
)


def _lower_instr(scope: Scope, call: Call) -> str:
    """The place of the n-th occurrence from a start on, which counts from the end where it is negative; 0 has none.

    Version 1 found nothing from a negative start, and did not count.
    """
    text, part, *rest = scope.texts(call.operands)
    if not rest:
        return f"instr({text}, {part})"
    start, times = rest[0], rest[1] if len(rest) == 2 else "1"

    def body(t: Sequence[str]) -> str:
        text, part, start, times = t
        at, turn = scope.fresh(), scope.fresh()
        backward = scope.share_some(
            (f"if({start} < 0, reverse({text}), {text})", f"if({start} < 0, reverse({part}), {part})"),
            [0, 1],
            lambda both: (
                # A text has no more occurrences than places; a list of all numbers up to a great one has no end.
                f"aggregate(sequence(1, least({times}, char_length({text}) + 1)), abs({start}) - 1, ({at}, {turn}) ->"
                f" if({at} < 0, {at}, coalesce(nullif(locate({both[1]}, {both[0]}, {at} + 1), 0), -1)))"
            ),
        )
        place = scope.share(
            backward,
            lambda found: (
                f"CASE WHEN {found} < 0 THEN 0 WHEN {start} > 0 THEN {found}"
                f" ELSE char_length({text}) - {found} - char_length({part}) + 2 END"
            ),
        )
        wrong = scope.failure("INSTR: occurrences count from 1, not ", f"CAST({times} AS STRING)")
        missing = " OR ".join(f"{each} IS NULL" for each in t)
        return f"CASE WHEN {missing} THEN NULL WHEN {times} < 1 THEN {wrong} WHEN {start} = 0 THEN 0 ELSE {place} END"

    return scope.share_some((text, part, start, times), [0, 1, 2, 3], body)


INSTR_2 = function(
    "INSTR", form("TEXT, TEXT, INT?, INT?", INT), sql=_lower_instr, version=2, since="1.3", only=lambda t: len(t) > 2
)
_ENDS = (form("TEXT, TEXT", BOOLEAN), form("BINARY, BINARY", BOOLEAN))
STARTSWITH = function("STARTSWITH", *_ENDS, sql="startswith({0}, {1})")
ENDSWITH = function("ENDSWITH", *_ENDS, sql="endswith({0}, {1})")


def _lower_trim(scope: Scope, call: Call) -> str:
    """Operands: BOTH, LEADING or TRAILING; the characters to take off, in any order; the text."""
    mode, characters, text = call.operands
    side = str(mode.value) if isinstance(mode, Literal) else "BOTH"
    return f"trim({side} {scope.text(characters)} FROM {scope.text(text)})"


TRIM = function("TRIM", form("SYMBOL, TEXT, TEXT", varying(2)), sql=_lower_trim, words=("BOTH", "LEADING", "TRAILING"))


_SIDES = {"LTRIM": "LEADING", "RTRIM": "TRAILING", "BTRIM": "BOTH"}
TRIMS = tuple(
    function(
        name,
        form("TEXT, TEXT?", varying(0)),
        sql=by_count(f"trim({side} ' ' FROM {{0}})", f"trim({side} {{1}} FROM {{0}})"),
    )
    for name, side in _SIDES.items()
)

# Version 1 gave the length of its operand.
BTRIM_2 = function(
    "BTRIM",
    form("TEXT, TEXT?", STRING),
    sql=by_count("trim(BOTH ' ' FROM {0})", "trim(BOTH {1} FROM {0})"),
    version=2,
    since="1.3",
    only=lambda t: t[0].type.length < MAX_LENGTH,
)

_BEYOND_BMP = r"[\x{10000}-\x{10ffff}]"
_MARK = "\uffff"
_WHOLE = "\ufffe"


def _marked(text: str) -> str:
    """A mark after each character that takes two UTF-16 units, so that places count those units."""
    return f"regexp_replace({text}, {text_literal(f'({_BEYOND_BMP})')}, {text_literal('$1' + _MARK)})"


def _unmarked(text: str) -> str:
    """Without the marks; half a character becomes a question mark."""
    whole = f"regexp_replace({text}, {text_literal(f'({_BEYOND_BMP}){_MARK}')}, {text_literal('$1' + _WHOLE)})"
    torn = f"regexp_replace({whole}, {text_literal(f'{_BEYOND_BMP}(?!{_WHOLE})|{_MARK}')}, '?')"
    return f"replace({torn}, {text_literal(_WHOLE)}, '')"


def _escaped(text: str) -> str:
    """A template text of which only the places are fields."""
    doubled = text.replace("{", "{{").replace("}", "}}")
    for index in range(4):
        doubled = doubled.replace(f"{{{{{index}}}}}", f"{{{index}}}")
    return doubled


PADS = tuple(
    function(
        name,
        form("TEXT, INT, TEXT", STRING),
        sql=template(
            "if({1} < 0 OR {2} = '', NULL, "
            + _escaped(_unmarked(f"{name.lower()}({_marked('{0}')}, {{1}}, {_marked('{2}')})"))
            + ")"
        ),
    )
    for name in ("LPAD", "RPAD")
)


def _lower_overlay(scope: Scope, call: Call) -> str:
    """Counts UTF-16 units. A start outside the text leaves it as it is."""
    text, new, start, *length = scope.texts(call.operands)

    def body(t: Sequence[str]) -> str:
        old, put, place = t
        size = length[0] if length else f"char_length({put})"
        # Sums may be too large for an INT where nothing is left of the text.
        left = f"{size} BETWEEN 1 AND char_length({old}) - {place}"
        rest = f"if({left}, substring({old}, {place} + {size}), '')"
        made = f"concat(left({old}, {place} - 1), {put}, {rest})"
        return f"if({place} <= 0 OR {place} > char_length({old}), {old}, {made})"

    return _unmarked(scope.share_some((_marked(text), _marked(new), start), [0, 1, 2], body))


OVERLAY = function("OVERLAY", form("TEXT, TEXT, INT, INT?", _overlaid), sql=_lower_overlay)
# Version 1 kept a text that begins before the start, whatever was to be put there.
OVERLAY_2 = function(
    "OVERLAY",
    form("TEXT, TEXT, INT, INT?", _overlaid),
    sql=lambda scope, call: f"if({scope.text(call.operands[1])} IS NULL, NULL, {_lower_overlay(scope, call)})",
    version=2,
    since="1.4",
    only=lambda t: t[1].type.nullable,
)

_WORDS = text_literal("([A-Za-z0-9]+|[^A-Za-z0-9]+)")


def _lower_initcap(scope: Scope, call: Call) -> str:
    """Words are runs of ASCII letters and digits."""
    word = scope.fresh()
    changed = f"if(rlike({word}, '^[A-Za-z0-9]'), concat(upper(left({word}, 1)), lower(substring({word}, 2))), {word})"
    words = f"regexp_extract_all({scope.text(call.operands[0])}, {_WORDS}, 1)"
    return f"array_join(transform({words}, {word} -> {changed}), '')"


INITCAP = function("INITCAP", form("TEXT", operand(0)), sql=_lower_initcap)


def _lower_elt(scope: Scope, call: Call) -> str:
    return f"elt({', '.join(scope.texts(call.operands))})"


ELT = function("ELT", form("INTEGER, TEXT...", STRING, nullable=True), sql=_lower_elt)


def _is_string(operands: Sequence[Expression]) -> bool:
    """Whether the members together are STRING, as version 1 had them in any case."""
    return any(each.type.same_values(STRING) for each in operands[1:])


def _bind_elt(call: Invocation) -> Binding | None:
    """The type that holds all members; there may be none of the number."""
    if len(call.operands) < 2 or call.types[0].root not in INTEGERS:
        return None
    number = call.operands[0]
    if isinstance(number, Literal) and isinstance(number.value, int) and number.value < 0:
        raise SqlError("ELT counts from 1", position=call.position, hint="Write ELT(1, …) for the first.")
    found = common_type(call.types[1:])
    if found is None or found.root not in (*TEXTS, *BINARIES):
        return None
    members = (convert(each, found) if each.type.root is Root.NULL else each for each in call.operands[1:])
    return Binding((number, *members), found.regular().with_nullable(True))


# Version 1 gave STRING whatever the members are.
ELT_2 = Function(
    "ELT",
    ("ELT(INTEGER, TEXT, …)", "ELT(INTEGER, BINARY, …)"),
    _bind_elt,
    _lower_elt,
    2,
    "1.3",
    only=lambda t: not _is_string(t),
)
