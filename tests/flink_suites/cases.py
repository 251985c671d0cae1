"""Cases of Flink's tests of functions: what is asked, over which rows, and what Flink gives."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from execnodes.core.types import INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, LogicalType, Root, parse_type
from rekindle.results.json_values import Json, to_json


@dataclass(frozen=True, eq=False)
class Case:
    """One statement of a specification; those of one specification read the same rows."""

    suite: str
    spec: int
    item: int
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    configuration: Mapping[str, str]
    functions: tuple[str, ...]
    """Functions in Java that the test brings along."""
    aggregate: bool
    """Whether `sql` is a whole query over the rows, as changes; else columns over one row."""
    refused: bool
    result_types: tuple[str, ...]
    results: tuple[Any, ...]
    """Values as Flink's test has them: see `plain`."""
    text: str | None
    """What the result is as a text, where that is all that is expected."""

    @property
    def id(self) -> str:
        """What the ledger calls it."""
        return f"{self.suite}/{self.spec}/{self.item}"

    @property
    def zone(self) -> str:
        """Time zone of its session."""
        return self.configuration.get("table.local-time-zone", "UTC")

    @property
    def group(self) -> tuple[object, ...]:
        """The specification, and the session's configuration."""
        return self.suite, self.spec, tuple(sorted(self.configuration.items()))


def read(path: Path) -> list[Case]:
    """The cases of a file that have SQL; of those written in Table API too, the first with the same text."""
    found: dict[tuple[object, ...], Case] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        given = json.loads(line)
        if given["sql"] is not None:
            case = _case(given)
            found.setdefault((*case.group, case.sql.replace("`", "")), case)
    return sorted(found.values(), key=lambda case: case.group)


def _case(given: Mapping[str, Any]) -> Case:
    return Case(
        suite=given["suite"],
        spec=given["spec"],
        item=given["item"],
        sql=given["sql"],
        names=tuple(given["names"]),
        types=tuple(given["types"]),
        rows=tuple(given["rows"]),
        configuration=given["configuration"],
        functions=tuple(given["functions"]),
        aggregate=given.get("aggregate", False),
        refused=given.get("refused", False),
        result_types=tuple(given.get("result types", ())),
        results=tuple(given.get("results", ())),
        text=given.get("text"),
    )


def type_of(text: str) -> LogicalType:
    """A type as Flink writes it; ValueError or RekindleError for one that this engine does not know."""
    text = re.sub(r"TIMESTAMP\((\d)\) WITH LOCAL TIME ZONE", r"TIMESTAMP_LTZ(\1)", text)
    text = re.sub(
        r"INTERVAL (?:DAY|HOUR|MINUTE|SECOND)\b(?:\(\d\))?(?: TO (?:HOUR|MINUTE|SECOND)(?:\(\d\))?)?", _SECONDS, text
    )
    return parse_type(re.sub(r"INTERVAL (?:YEAR|MONTH)\b(?:\(\d\))?(?: TO MONTH)?", _MONTHS, text))


_SECONDS, _MONTHS = str(INTERVAL_DAY_TIME), str(INTERVAL_YEAR_MONTH)


def _zone(name: str) -> tzinfo:
    offset = re.fullmatch(r"GMT([+-])(\d\d):(\d\d)", name)
    if offset is None:
        return ZoneInfo(name)
    length = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
    return timezone(-length if offset[1] == "-" else length)


def plain(tagged: Any, t: LogicalType, zone: str) -> Json:
    """A value of a specification in the notation of the program folders; `zone` is that of its session."""
    return to_json(_python(tagged, t, _zone(zone)), t)


def _python(tagged: Any, t: LogicalType, zone: tzinfo) -> Any:
    if not isinstance(tagged, Mapping):
        return tagged
    kind, held = next(iter((key, value) for key, value in tagged.items() if key != "kind"))
    if (kind in ("map", "row", "array")) != bool(t.children or t.fields):
        raise LookupError(f"a {kind} is no value of type {t}")
    match kind:
        case "number":
            return Decimal(held) if t.root is Root.DECIMAL else held
        case "float":
            return float(held.replace("Infinity", "inf"))
        case "decimal":
            return Decimal(held) if t.root is Root.DECIMAL else float(held)
        case "bytes":
            return bytes.fromhex(held)
        case "timestamp" if t.root is Root.TIMESTAMP_LTZ:
            return datetime.fromisoformat(held[:26]).replace(tzinfo=zone)
        case "time" | "timestamp":
            whole, _, fraction = held.partition(".")
            return f"{whole}.{fraction[: t.precision]}" if t.precision else whole
        case "instant":
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=held[0], microseconds=held[1] // 1000)
        case "row":
            return [_python(each, f.type, zone) for each, f in zip(held, t.fields, strict=True)]
        case "map":
            return {_hashable(_python(k, t.key, zone)): _python(v, t.element, zone) for k, v in held}
        case "array":
            return [_python(each, t.element, zone) for each in held]
        case _:
            return held


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def written(tagged: Any, t: LogicalType, zone: str) -> Json:
    """A value of a specification as the format json reads it."""
    if tagged is None:
        return None
    value = _python(tagged, t, _zone(zone))
    match t.root:
        case Root.BINARY | Root.VARBINARY:
            return base64.b64encode(value).decode()
        case Root.TIMESTAMP_LTZ:
            return f"{to_json(value, t)}Z"
        case Root.ARRAY:
            return [written(each, t.element, zone) for each in tagged["array"]]
        case Root.MAP:
            return {
                str(to_json(key, t.key)): written(v, t.element, zone)
                for key, (_, v) in zip(value, tagged["map"], strict=True)
            }
        case Root.ROW:
            return {f.name: written(each, f.type, zone) for each, f in zip(tagged["row"], t.fields, strict=True)}
        case Root.DECIMAL:
            return str(value)
        case _:
            return to_json(value, t)


def split_map(tagged: Any, t: LogicalType, zone: str) -> tuple[Json, Json]:
    """Keys and values of a map; both None for NULL."""
    if tagged is None:
        return None, None
    if "map" not in tagged:
        raise LookupError(f"{tagged} is no value of type {t}")
    pairs = tagged["map"]
    return [written(k, t.key, zone) for k, _ in pairs], [written(v, t.element, zone) for _, v in pairs]


def sql_literal(tagged: Any, t: LogicalType, zone: str) -> str:
    """A value of a specification as SQL writes it."""
    if tagged is None:
        return f"CAST(NULL AS {t})"
    if t.root is Root.ARRAY:
        return f"ARRAY[{', '.join(sql_literal(each, t.element, zone) for each in tagged['array'])}]"
    if t.root is Root.MAP:
        pairs = [f"{sql_literal(k, t.key, zone)}, {sql_literal(v, t.element, zone)}" for k, v in tagged["map"]]
        return f"MAP[{', '.join(pairs)}]"
    text = str(written(tagged, t, zone)).replace("'", "''")
    return f"CAST('{text}' AS {t})"
