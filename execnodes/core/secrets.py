"""What a secret is, by the key of an option or by the form of a text, and texts without their secrets.

Two ways lead to a secret: its form (`password=…`, ``://user:…@``, a bearer header), and having been seen as the value
of an option. `masked` knows both, so a message of Spark or of a driver that quotes an option does not give it away.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from urllib.parse import quote

MASK = "***"
_WORDS = frozenset((
    "password", "passwords", "passwd", "passphrase", "passcode", "pass", "pwd", "pw", "secret", "secrets", "token",
    "apikey", "accesskey", "accountkey", "privatekey", "secretkey", "credential", "credentials", "authorization",
    "bearer", "cookie", "jaas", "sas", "sig", "signature",
))  # fmt: skip
"""A key with one of these words is sensitive."""
_PAIRS = frozenset((
    "api-key", "access-key", "account-key", "service-key", "private-key", "secret-key", "shared-key", "sas-key",
    "encryption-key", "master-key", "auth-params", "auth-header", "auth-tokens", "access-tokens", "basic-auth",
    "http-header", "http-headers", "user-info",
))  # fmt: skip
"""Likewise two words on end."""
_PARTS = re.compile(r"passw|passphrase|secret|credential|apikey|accesskey|accountkey|privatekey|(?:token|pwd)$")
"""Likewise a word that has this in it or at its end: dbpassword, accesstoken."""
_ENDS = frozenset((
    "alias", "algorithm", "bucket", "class", "count", "enabled", "encoding", "endpoint", "expiry", "field",
    "fields", "file", "form", "format", "interval", "kind", "len", "length", "lifetime", "limit", "location", "max",
    "min", "mode", "name", "names", "path", "policy", "prefix", "provider", "providers", "rate", "required", "size",
    "start", "end", "store", "through", "timeout", "ttl", "type", "uri", "url", "version",
))  # fmt: skip
"""A key that ends so says something about a secret (its file, its length), and is none itself."""
_HARMLESS = re.compile(r"token-bucket|pass-through")
"""Terms of the trade that have such a word in them."""
_REFERENCE = re.compile(r"\$\{(?:env|file):[^}]+\}")
_NO_SECRET = frozenset(("", MASK, "${}", "true", "false", "null", "none", "?"))
_USER_INFO = re.compile(r"(?:://[^/@\s:'\"]*:|jdbc:oracle:\w+:[^/@\s]+/)([^/\s'\"]+)@")
_KEY = re.compile(r"""(?<![\w./-])([\w.-]+)(["'`]?)\s*(=>?|->|:)\s*(?=["'\w$+/%!#*(@^-])""")
_VALUE = re.compile(r"""["]((?:[^"\\]|\\.)*)|[']((?:[^']|'')*)|([^\s"'&;,)\]}]+)""")
"""Of a pair; its closing quote may have been cut off."""
_HEADER = re.compile(r"(?i)(?:authorization[\"']?\s*[:=]\s*[\"']?(?:[a-z]+\s+)?+|\bbearer\s+(?=\S*\d))([^\s\"',;]{4,})")
_TOKEN = re.compile(
    r"\b((?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_\w{20,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(.+?)(?:-----END|\Z)",
    re.DOTALL,
)
_SHORTEST = 4
"""Shorter values are not looked for in other texts: what remained could not be read."""
_known: set[str] = set()


@lru_cache(maxsize=4096)
def is_sensitive(key: str) -> bool:
    """Whether the value of an option is a secret, by the words of its key (dots, dashes, camelCase)."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", key)
    plain = _HARMLESS.sub("", re.sub(r"[^a-z0-9]+", "-", spaced.lower()))
    words = [word for word in plain.split("-") if word]
    if not words or words[-1] in _ENDS:
        return False
    pairs = {f"{first}-{second}" for first, second in pairwise(words)}
    return bool(_WORDS.intersection(words) or _PAIRS & pairs or any(map(_PARTS.search, words)))


def literal_secrets(options: Mapping[str, str]) -> tuple[str, ...]:
    """Keys, sorted, whose value shows a secret instead of a reference such as ``${env:DB_PASSWORD}``."""
    return tuple(key for key in sorted(options) if any(_shown(key, options[key])))


def remember(options: Mapping[str, str]) -> None:
    """Learn the secrets among the values of options, so that `masked` finds them wherever they turn up."""
    for key, value in options.items():
        for secret in _shown(key, value):
            remember_value(secret)


def remember_value(secret: str) -> None:
    """Learn one secret."""
    if len(secret) >= _SHORTEST:
        _known.update(
            (secret, quote(secret, safe=""), html.escape(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1])
        )


def masked(text: str) -> str:
    """The text with `MASK` for each secret in it."""
    for secret in sorted((each for each in _known if each in text), key=len, reverse=True):
        text = text.replace(secret, MASK)
    for start, end in sorted(_spans(text), reverse=True):
        text = text[:start] + MASK + text[end:]
    return text


def masked_options(options: Mapping[str, str]) -> dict[str, str]:
    """Options to be shown."""
    return {
        key: MASK if is_sensitive(key) and any(_shown(key, value)) else masked(value) for key, value in options.items()
    }


def _shown(key: str, value: str) -> Iterator[str]:
    """Secrets that an option shows in clear text."""
    if is_sensitive(key) and not _REFERENCE.search(value) and value.lower() not in _NO_SECRET:
        yield value
    # References are cut out first, so that what remains of a pair is clear text or nothing.
    rest = _REFERENCE.sub("${}", value)
    yield from (rest[start:end] for start, end in _spans(rest))


def _spans(text: str) -> list[tuple[int, int]]:
    """Where secrets stand, by their form, in order and apart."""
    found: list[tuple[int, int]] = []
    by_form = (
        match.span(match.lastindex or 0) for each in (_USER_INFO, _HEADER, _TOKEN) for match in each.finditer(text)
    )
    for start, end in sorted((*by_form, *_pairs(text))):
        value = text[start:end]
        if value.lower() in _NO_SECRET or value.startswith("${"):
            continue
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """Where the values of sensitive keys stand."""
    at = 0
    while key := _KEY.search(text, at):
        at = key.end()
        # A colon parts prose as well; behind a closing quote it is JSON, and headers have dashes in their names.
        telling = key[3] != ":" or key[2] or ("-" in key[1] and text[at] not in "\"'")
        if telling and is_sensitive(key[1]) and (value := _VALUE.match(text, at)):
            at = value.end()
            yield value.span(value.lastindex or 0)
