"""Writes ``docs/options.md`` from the options in the code: ``python -m docs.options_page``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from execnodes.core.flink_options import FAMILIES
from execnodes.core.options import OPTIONS, ConfigOption
from execnodes.core.registry import keys, lookup

PAGE = Path(__file__).with_name("options.md")
_HEAD = """# Options

Set them with `SET 'key' = 'value'`, on the command line with `-D key=value`, or in code with
`TableEnvironment.create`. Keys that begin with `spark.` go to the Spark session. Options marked with nodes are written
into the `configuration` of these nodes when a plan is compiled; there they can be edited, and they win over the
session's. Those marked *job* belong to the job: `compile` keeps the ones that are set in the plan's own
`configuration`, as defaults, over which `SET` and `-D` of the session that runs the plan win. Those marked *run*
belong to a session, a machine or one start of a job, and so do Spark's: no plan keeps them, and `compile` names them
("not kept: …").

This page is generated: `make goldens`.
"""
_TABLE = "| key | values | default | meaning | written into |\n|---|---|---|---|---|\n"
_INERT = f"""
## Accepted, change nothing

Programs and plans made for Flink may have them. Their values are checked; nothing depends on them.

{_TABLE}"""
_FIXED = f"""
## With their default alone

Flink has other values, which would give other rows or tables; they are refused, with what holds here.

{_TABLE}"""
_FAMILIES = """
## Of Flink's runtime, its SQL client and PyFlink

Any key that begins so is accepted and changes nothing. The first one of a kind that is set is answered with a line
that says what has its effect here.

| keys | here |
|---|---|
"""


def render() -> str:
    """The page: one table for each first part of the keys."""
    consumers = _consumers()
    known = sorted(OPTIONS.values(), key=lambda option: option.key)
    options = (each for each in known if not each.inert)
    parts = [_HEAD]
    for group, members in groupby(options, key=lambda option: _group(option.key)):
        parts.append(f"\n## {group}\n\n{_TABLE}")
        parts += [_line(option, consumers.get(option.key, [])) for option in members]
    parts.append(_INERT)
    parts += [_line(option, consumers.get(option.key, [])) for option in known if option.inert and not option.fixed]
    parts.append(_FIXED)
    parts += [_line(option, []) for option in known if option.fixed]
    parts += [_FAMILIES, *_families()]
    return "".join(parts)


def _families() -> Iterator[str]:
    """A line a reason, with the beginnings of keys that have it."""
    reasons: dict[str, list[str]] = {}
    for family, why in FAMILIES.items():
        reasons.setdefault(why, []).append(f"`{family}{'…' if family.endswith(('.', '-')) else ''}`")
    yield from (f"| {', '.join(families)} | {why} |\n" for why, families in reasons.items())


def _group(key: str) -> str:
    first, second, *_ = key.split(".")
    return f"{first}.{second}" if first == "table" and second in ("exec", "optimizer", "plan") else first


def _consumers() -> dict[str, list[str]]:
    """Option key to the short names of the nodes that store it."""
    found: dict[str, list[str]] = {}
    for key in keys():
        metadata = next(each for each in lookup(key).METADATA if each.key == key)
        for option in metadata.consumed_options:
            found.setdefault(option, []).append(f"{key.name.partition('-exec-')[2]}_{key.version}")
    return found


def _line(option: ConfigOption, nodes: list[str]) -> str:
    values = ", ".join(f"`{choice}`" for choice in option.choices) or option.kind
    default = f"`{option.default}`" if option.default else "(none)"
    older = "".join(f" Formerly `{key}`." for key in option.fallback_keys)
    places = ", ".join(_places(option, nodes))
    return f"| `{option.key}` | {values} | {default} | {option.description}{older} | {places} |\n"


def _places(option: ConfigOption, nodes: list[str]) -> Iterator[str]:
    if option.scope != "plan":
        yield f"*{option.scope}*"
    yield from (f"`{node}`" for node in nodes)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
