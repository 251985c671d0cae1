"""Secrets never reach a plan: sensitive table options are references, and a literal value is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping

from execnodes.core.errors import PlanError

_WORDS = (
    "password", "passwd", "passphrase", "pwd", "secret", "secrets", "token", "apikey", "api-key", "access-key",
    "account-key", "service-key", "private-key", "secret-key", "credential", "credentials", "auth-params", "basic-auth",
    "jaas-config", "http-headers", "sas",
)  # fmt: skip
_SENSITIVE_KEY = re.compile(rf"(?:^|-)(?:{'|'.join(_WORDS)})(?:-|$)")
_REFERENCE = re.compile(r"\$\{(?:env|file):[^}]+\}")
# user:password@ in an address, and name=value pairs inside longer texts (JDBC URLs, JAAS entries).
_USER_INFO = re.compile(r"://[^/@\s:]*:([^/@\s]+)@")
_PAIR = re.compile(
    r"(?i)(?:^|[^a-z])(?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key)\s*=\s*"
    r"[\"']?([^\s\"'&;,]+)"
)


def is_sensitive(key: str) -> bool:
    """Whether the value of a table option is a secret, judged by the words of its key."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).lower()
    return _SENSITIVE_KEY.search(re.sub(r"[._\s]", "-", words)) is not None


def literal_secrets(options: Mapping[str, str]) -> tuple[str, ...]:
    """Keys, sorted, whose value shows a secret instead of a reference such as ``${env:DB_PASSWORD}``."""
    return tuple(key for key in sorted(options) if _shows_secret(key, options[key]))


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


def _shows_secret(key: str, value: str) -> bool:
    if is_sensitive(key) and value and not _REFERENCE.search(value):
        return True
    # A reference is cut out first, so that what remains of a pair is clear text or nothing.
    rest = _REFERENCE.sub("${}", value)
    found = [match[1] for pattern in (_USER_INFO, _PAIR) for match in pattern.finditer(rest)]
    return any(secret != "${}" for secret in found)
