"""Secrets never reach a plan: a literal value is refused, references are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping

from execnodes.core.errors import PlanError
from execnodes.core.secrets import literal_secrets


def refuse_literal_secrets(table: str, options: Mapping[str, str]) -> None:
    """PlanError that names the first option of `table` with a secret in clear text."""
    for key in literal_secrets(options):
        raise PlanError(
            f"option {key!r} holds a secret in clear text, which must not be written into a plan",
            where=f"table {table}",
            hint=f"Write {hint_for(key)}",
        )


def hint_for(key: str) -> str:
    """How to write a reference for an option."""
    name = re.sub(r"[^A-Z0-9]+", "_", key.upper()).strip("_")
    return (
        f"'{key}' = '${{env:{name}}}' (an environment variable) or '{key}' = '${{file:/path/to/file}}' "
        "(the content of a file), as the whole value or in place of its secret part."
    )
