"""Options of tables: what a connector or a format takes in WITH, and the checks that need no Spark."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from execnodes.core.errors import OptionError
from execnodes.core.local_paths import PathError, parse_local_path
from execnodes.core.options import ConfigOption, parse_duration

_log = logging.getLogger("rekindle.options")


@dataclass(frozen=True, slots=True)
class TableOption(ConfigOption):
    """One WITH option. A part ``<name>`` of the key stands for any text; `default` is "" where there is none."""

    required: bool = False
    secret: bool = False
    roles: tuple[str, ...] = ("source", "sink")
    """Where the option means something."""

    def matches(self, key: str) -> bool:
        """Whether a key a user wrote is this option."""
        return _pattern(self.key).fullmatch(key) is not None


@lru_cache(maxsize=512)
def _pattern(key: str) -> re.Pattern[str]:
    parts = re.split(r"<[^>]*>", key)
    return re.compile(".+".join(re.escape(part) for part in parts), re.DOTALL)


class TableOptions(dict[str, str]):
    """Checked options of one table, in canonical text; the getters add declared defaults."""

    def __init__(self, given: Mapping[str, str], declared: Iterable[TableOption]) -> None:
        super().__init__(given)
        self._defaults = {option.key: option.default for option in declared}

    def text(self, key: str) -> str:
        """The value in force; "" for an option without value and default."""
        return self.get(key, self._defaults[key])

    def flag(self, key: str) -> bool:
        """Of a bool option."""
        return self.text(key) == "true"

    def number(self, key: str) -> int:
        """Of an int option."""
        return int(self.text(key))

    def seconds(self, key: str) -> float:
        """Of a duration option."""
        return parse_duration(self.text(key), key) / 1000


_WATERMARKS = "Watermarks move with each micro-batch, those of all sources together."
_IDLE = "SET 'table.exec.source.idle-timeout', which holds for all sources."
COMMON = (
    TableOption("connector", "text", "", "Identifier of the connector.", required=True),
    TableOption("property-version", "int", "1", "Accepted for Flink's sake; it has no effect."),
    TableOption(
        "scan.watermark.emit.strategy", "enum", "on-periodic", _WATERMARKS, ("on-event", "on-periodic"), inert=True
    ),
    TableOption("scan.watermark.alignment.group", "text", "", _WATERMARKS, inert=True),
    TableOption("scan.watermark.alignment.max-drift", "duration", "", _WATERMARKS, inert=True),
    TableOption("scan.watermark.alignment.update-interval", "duration", "1 s", _WATERMARKS, inert=True),
    TableOption("scan.watermark.idle-timeout", "duration", "", _IDLE, inert=True),
)
"""Options of every connector. `inert`: taken from Flink's tables, and said once to change nothing."""


def check_options(
    options: Mapping[str, str], declared: tuple[TableOption, ...], role: str, table: str, skip: Iterable[str] = ()
) -> TableOptions:
    """Refuse unknown keys, bad values and missing required options; returns canonical values.

    `role` is "source" or "sink"; options of the other role are taken (one table may be read and written).
    Keys in `skip` are not looked at. Values that are secret references are checked when they are resolved.
    """
    canonical: dict[str, str] = {}
    for key, value in options.items():
        if key in skip:
            continue
        option = next((each for each in declared if each.matches(key)), None)
        if option is None:
            raise _unknown(key, options, declared, table)
        if option.inert:
            _say_inert(table, key, option.description)
        try:
            canonical[key] = value if is_reference(value) else _checked(option, key, value)
        except OptionError as error:
            raise OptionError(error.message, where=f"table {table}", hint=error.hint) from error
        except PathError as error:
            raise PathError(error.message, where=f"table {table}, {error.where}", hint=error.hint) from error
    for option in declared:
        if option.required and role in option.roles and not canonical.get(option.key):
            raise OptionError(
                f"option {option.key!r} is missing", where=f"table {table}", hint=f"It is needed: {option.description}"
            )
    return TableOptions(canonical, declared)


@lru_cache(maxsize=512)
def _say_inert(table: str, key: str, why: str) -> None:
    """Log a line, once a table and option."""
    _log.warning("table %s: option %s has no effect: %s", table, key, why)


def _checked(option: TableOption, key: str, value: str) -> str:
    # Delimiters and literals may be blanks, so texts are never stripped.
    if option.kind == "text":
        return value
    if option.kind == "path":
        return parse_local_path(value)
    return ConfigOption(key, option.kind, option.default, option.description, option.choices).check(value)


def _unknown(key: str, given: Mapping[str, str], declared: tuple[TableOption, ...], table: str) -> OptionError:
    names = [option.key for option in declared]
    near = difflib.get_close_matches(key, names, n=3)
    known = f"{given.get('connector', '?')} takes: {', '.join(sorted(names))}."
    hint = f"Did you mean {' or '.join(near)}? {known}" if near else known
    return OptionError(f"unknown option {key!r}", where=f"table {table}", hint=hint)


def reject_misspelt(given: Mapping[str, str], key: str, table: str) -> None:
    """OptionError for a key that is nearly one which must be there, and is not."""
    near = [] if key in given else difflib.get_close_matches(key, given, n=1, cutoff=_MISSPELT)
    if near:
        raise OptionError(f"unknown option {near[0]!r}", where=f"table {table}", hint=f"Did you mean {key}?")


_MISSPELT = 0.8
"""How much alike they are, from 0 to 1: `value.format` is none of `format`."""
_REFERENCE = re.compile(r"\$\{(env|file):([^}]+)\}")


def is_reference(value: str) -> bool:
    """Whether a value holds a secret reference ``${env:NAME}`` or ``${file:PATH}``."""
    return _REFERENCE.search(value) is not None


def with_references(value: str, of: Callable[[str, str], str]) -> str:
    """A value with what `of` gives for kind and name in the place of each reference; that is not read again."""
    return _REFERENCE.sub(lambda match: of(match[1], match[2]), value)
