"""Secrets in table options: references in plans, values only when a connector opens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from execnodes.core.errors import ConnectorError
from execnodes.core.secrets import literal_secrets, remember_value
from rekindle.connectors.options import with_references


def resolve_secrets(options: Mapping[str, str], name: str = "") -> dict[str, str]:
    """The options with references replaced by values; ConnectorError if a variable or file is missing.

    Values that turn out to be secrets are left out of every message from then on.
    """
    return {key: _resolve(key, value, name) for key, value in options.items()}


def _resolve(key: str, value: str, table: str) -> str:
    found: list[str] = []

    def value_of(kind: str, source: str) -> str:
        found.append(_value(kind, source, key, table))
        return found[-1]

    resolved = with_references(value, value_of)
    if literal_secrets({key: resolved}):
        for text in found:
            remember_value(text)
    return resolved


def _value(kind: str, source: str, key: str, table: str) -> str:
    where = f"table {table}" if table else None
    if kind == "env":
        if source not in os.environ:
            raise ConnectorError(
                f"option {key!r} refers to the environment variable {source}, which is not set",
                where=where,
                hint=f"Set {source} in the environment of the process that runs the job.",
            )
        return os.environ[source]
    try:
        return Path(source).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConnectorError(
            f"option {key!r} refers to the file {source}, which cannot be read ({type(error).__name__})",
            where=where,
            hint="Put the secret there, readable for the user who runs the job.",
        ) from error
