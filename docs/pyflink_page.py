"""Writes ``docs/pyflink.md``, PyFlink's public names beside ours: ``python -m docs.pyflink_page``.

`pyflink_names.json` has PyFlink's names and parameters, `pyflink_absent.toml` why some are not here.
`pyflink_examples.toml` has what its example files do here.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import rekindle
from rekindle.api import grouped_table

FOLDER = Path(__file__).parent
PAGE = FOLDER / "pyflink.md"
_HEAD = """# PyFlink's names

The public names of `pyflink.table` 2.1 beside those of `rekindle`. What is *there* has the name and takes the
parameters; *other parameters* lacks some or names them otherwise; what is *absent* has its reason. How names act that
do otherwise is told in [the Table API](table-api.md).

This page is generated: `make goldens`.

| | names | there | other parameters | absent |
|---|---|---|---|---|
"""
_EXAMPLES = """
## Examples

The example files of the package `apache-flink` 2.3.0, tried once by hand with only their imports changed to
`from rekindle import …` and, where they have comments on what they print, compared with these.

| | outcome | |
|---|---|---|
"""
_OUTCOMES = {"prints": "prints what its comments say", "runs": "runs", "no": "does not run"}


def render() -> str:
    """The page."""
    names: dict[str, dict[str, list[str]]] = json.loads((FOLDER / "pyflink_names.json").read_text(encoding="utf-8"))
    counts, others, absent = [], [], []
    for owner, members in names.items():
        found = [(name, _missing(_find(owner, name), parameters)) for name, parameters in members.items()]
        gone = [name for name, missing in found if missing is None]
        changed = [(name, missing) for name, missing in found if missing]
        title = f"`{owner}`" if owner and owner != "classes" else owner or "functions"
        there = len(found) - len(gone) - len(changed)
        counts.append(f"| {title} | {len(found)} | {there} | {len(changed)} | {len(gone)} |\n")
        prefix = f"{owner}." if owner and owner != "classes" else ""
        lists = [(name, ", ".join(f"`{each}`" for each in missing or ())) for name, missing in changed]
        others += [f"| `{prefix}{name}` | {parameters} |\n" for name, parameters in lists]
        absent += [f"| `{prefix}{name}` | {reason(prefix + name)} |\n" for name in gone]
    return "".join(
        (
            _HEAD, *counts, "\n## Other parameters\n\n| | PyFlink's, not here |\n|---|---|\n", *others,
            "\n## Absent\n\n| | in its place |\n|---|---|\n", *absent, _EXAMPLES, *_examples(),
        )
    )  # fmt: skip


def _examples() -> Iterator[str]:
    folders = tomllib.loads((FOLDER / "pyflink_examples.toml").read_text(encoding="utf-8"))
    for folder, files in folders.items():
        for name, tried in files.items():
            yield f"| `{folder}/{name}` | {_OUTCOMES[tried['outcome']]} | {tried['why']} |\n"


def reason(name: str) -> str:
    """Why a name is absent; KeyError where nobody has said it."""
    for pattern, text in tomllib.loads((FOLDER / "pyflink_absent.toml").read_text(encoding="utf-8")).items():
        if fnmatchcase(name, pattern):
            return str(text)
    raise KeyError(f"{name}: say why it is absent in pyflink_absent.toml")


def _find(owner: str, name: str) -> Any:
    if owner in ("", "classes"):
        return getattr(rekindle, name) if name in rekindle.__all__ else None
    home: Any = getattr(rekindle, owner, None) or getattr(grouped_table, owner)
    return inspect.getattr_static(home, name, None)


def _missing(member: Any, parameters: list[str]) -> tuple[str, ...] | None:
    """Parameters of PyFlink's that ours has not; None where there is nothing."""
    if member is None:
        return None
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if not inspect.isfunction(function):
        return tuple(each for each in parameters if not isinstance(member, type))
    ours = list(_own(function))
    if any(each.startswith("*") for each in ours):
        return ()
    return tuple(each for each in parameters if each.strip("[]").lstrip("*") not in ours)


def _own(function: Any) -> Iterator[str]:
    for each in inspect.signature(function).parameters.values():
        yield f"*{each.name}" if each.kind is each.VAR_POSITIONAL else each.name


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
