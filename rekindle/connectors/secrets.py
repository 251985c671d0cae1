"""Secrets in table options: references in plans, values only when a connector opens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from execnodes.core.errors import ConnectorError, OptionError
from plans.secrets import hint_for, literal_secrets
from rekindle.connectors.options import references


def check_no_literal_secrets(options: Mapping[str, str], name: str) -> None:
    """Refuse secrets written out, since options go into plans; OptionError names the table and the key."""
    for key in literal_secrets(options):
        raise OptionError(
            f"option {key!r} holds a secret in clear text, which would end up in compiled plans",
            where=f"table {name}",
            hint=f"Write {hint_for(key)}",
        )


def resolve_secrets(options: Mapping[str, str], name: str = "") -> dict[str, str]:
    """The options with references replaced by values; ConnectorError if a variable or file is missing."""
    return {key: _resolve(key, value, name) for key, value in options.items()}


def _resolve(key: str, value: str, table: str) -> str:
    for kind, source in references(value):
        value = value.replace(f"${{{kind}:{source}}}", _value(kind, source, key, table))
    return value


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
