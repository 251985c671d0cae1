"""Zones of CONVERT_TZ, as `java.util.TimeZone` takes them: regions, short names, ``GMT+5:30``; GMT for all others."""

from __future__ import annotations

import re

from execnodes.core.expressions import Expression, Literal
from execnodes.core.zones import known_zones
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
_OFFSET = r"GMT([+-])(\d|0\d|1\d|2[0-3])(?::?([0-5]\d))?"


def java_zone(scope: Scope, zone: Expression) -> str:
    """Spark SQL of a zone that Spark has."""
    if isinstance(zone, Literal) and zone.value is not None:
        return text_literal(_known(str(zone.value)))
    short = ", ".join(f"'{name}', '{region}'" for name, region in _SHORT.items())

    def body(z: str) -> str:
        offset = text_literal(f"^{_OFFSET}$")
        hours, minutes = (f"lpad(regexp_extract({z}, {offset}, {group}), 2, '0')" for group in (2, 3))
        of_gmt = f"concat(regexp_extract({z}, {offset}, 1), {hours}, ':', {minutes})"
        # Read with a time, a region that does not exist makes a text that is none.
        exists = f"rlike({z}, '^[A-Z][a-zA-Z]') AND try_to_timestamp(concat('2000 ', {z}), 'yyyy VV') IS NOT NULL"
        return (
            f"CASE WHEN {z} IS NULL THEN NULL WHEN rlike({z}, {offset}) THEN {of_gmt}"
            f" WHEN map_contains_key(map({short}), {z}) THEN map({short})[{z}]"
            f" WHEN rlike({z}, '^(?!Etc/)[^+]*[+-][0-9:]+$') THEN 'UTC' WHEN {exists} THEN {z} ELSE 'UTC' END"
        )

    return scope.share(scope.text(zone), body)


def _known(name: str) -> str:
    found = re.fullmatch(_OFFSET, name, re.ASCII)
    if found is not None:
        return f"{found[1]}{found[2]:0>2}:{found[3] or '00'}"
    return _SHORT.get(name, name if name in known_zones() else "UTC")
