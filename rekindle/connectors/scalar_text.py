"""Single values from their texts, as Flink's formats take them; as Spark SQL texts."""

from __future__ import annotations

from execnodes.core.types import BINARIES, INTEGERS, LogicalType, Root
from rekindle.connectors.line_text import TIME_ROOTS, lenient_time_from_text, string, time_from_text

_BLANKS = "".join(f"\\u{code:04x}" for code in range(33))
_WHOLE = r"^[+-]?[0-9]++\z"
_DECIMAL = r"^[+-]?(?:[0-9]++\.?[0-9]*|\.[0-9]++)(?:[eE][+-]?[0-9]++)?\z"
_NAMED = r"^[+-]?(?:NaN|Infinity)\z"
_BASE64 = r"^(?:[\x00-\x20]*+[A-Za-z0-9+/]{4})*+[\x00-\x20]*+(?:[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?+[\x00-\x20]*+\z"


def trimmed(x: str) -> str:
    """A text without what Java's `trim` takes off."""
    return f"trim(BOTH '{_BLANKS}' FROM {x})"


def is_decimal(x: str) -> str:
    """Whether a text is a number of Java's BigDecimal: a DECIMAL has no room for some of them, which are NULL then."""
    return f"{x} RLIKE {string(_DECIMAL)}"


def scalar(t: LogicalType, x: str, iso: bool) -> str:
    """The value of a text `x`, which is named often; NULL if it cannot be one. For a DECIMAL ask `is_decimal` first."""
    match t.root:
        case Root.BOOLEAN:
            return f"lower({trimmed(x)}) = 'true'"
        case root if root in BINARIES:
            return f"CASE WHEN {x} RLIKE {string(_BASE64)} THEN try_to_binary({x}, 'base64') END"
        case root if root in TIME_ROOTS:
            return f"coalesce({time_from_text(t, x, iso)}, {lenient_time_from_text(t, x, iso)})"
        case Root.DECIMAL:
            return f"TRY_CAST({x} AS DECIMAL({t.precision}, {t.scale}))"
        case Root.FLOAT | Root.DOUBLE:
            # Spark takes 'nan' and 'inf', too.
            taken = f"NOT {x} RLIKE '[iInN]' OR {trimmed(x)} RLIKE {string(_NAMED)}"
            return f"CASE WHEN {taken} THEN TRY_CAST({x} AS {t.root}) END"
        case root:
            # Whole numbers, called in Spark as here but for intervals.
            target = _INTERVALS.get(root, str(root))
            assert root in INTEGERS or root in _INTERVALS, root
            return f"CASE WHEN {trimmed(x)} RLIKE {string(_WHOLE)} THEN TRY_CAST({trimmed(x)} AS {target}) END"


_INTERVALS = {Root.INTERVAL_DAY_TIME: "BIGINT", Root.INTERVAL_YEAR_MONTH: "INT"}
