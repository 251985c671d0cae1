"""Versions since 2.0 of functions that gave a value for NULL, or failed for a pattern that is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.functions.function import Lower
from execnodes.functions.pattern_groups import ABSENT_GROUPS, absent
from execnodes.functions.patterns import SEEN, VALID
from execnodes.functions.scope import Scope
from execnodes.functions.texts import LOCATE_2, OVERLAY_2


def _known(earlier: Lower, at: int) -> Lower:
    """As `earlier`, but NULL where an operand is."""

    def lower(scope: Scope, call: Call) -> str:
        return f"if({scope.text(call.operands[at])} IS NULL, NULL, {earlier(scope, call)})"

    return lower


# Versions before found nothing from a start that is NULL, and put as many characters as there are for a NULL.
LOCATE_3 = replace(
    LOCATE_2, lower=_known(LOCATE_2.lower, 2), version=3, since="2.0", only=lambda t: len(t) == 3 and t[2].type.nullable
)
OVERLAY_3 = replace(
    OVERLAY_2,
    lower=_known(OVERLAY_2.lower, 3),
    version=3,
    since="2.0",
    only=lambda t: len(t) == 4 and t[3].type.nullable,
)


def _lower_extract(scope: Scope, call: Call) -> str:
    """A pattern that is none, or has no such group, is NULL before it is used: Spark may compute what is not needed."""
    text, pattern, group = scope.texts(call.operands)
    known = f"{SEEN} AND {{2}} >= 0 AND {VALID.replace(', 0)', ', {2})')}"

    def body(t: Sequence[str]) -> str:
        text, pattern, group = t
        value = f"if(rlike({text}, {pattern}), regexp_extract({text}, {pattern}, {group}), NULL)"
        return scope.share(
            value, lambda v: f"if({v} = '' AND {absent(text, pattern, group, '0')}, CAST(NULL AS STRING), {v})"
        )

    checked = scope.share_some([pattern, group], [0, 1], lambda t: f"if({known.format('', *t)}, {t[0]}, NULL)")
    return scope.share_some([text, checked, group], [0, 1, 2], body)


_EARLIER = ABSENT_GROUPS[0]
REGEXP_EXTRACT_5 = replace(
    _EARLIER,
    lower=_lower_extract,
    version=5,
    since="2.0",
    only=lambda t: not isinstance(t[1], Literal) and (_EARLIER.only is None or _EARLIER.only(t)),
)
