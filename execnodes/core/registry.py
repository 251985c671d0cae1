"""Finds node versions by their key. The tree is the registry: nothing registers itself, nothing is listed by hand."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import execnodes
from execnodes.core.errors import PlanError
from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode


class UnknownNodeError(PlanError):
    """A plan names a node or a node version that this engine does not have."""


@cache
def lookup(key: NodeKey) -> type[ExecNode]:
    """The class that serves `key`; imports that one module only, so reading a plan stays fast."""
    try:
        module = importlib.import_module(key.module)
    except ModuleNotFoundError as error:
        if error.name is None or not key.module.startswith(error.name):
            raise
        raise _unknown(key) from None
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, ExecNode) and any(m.key == key for m in value.METADATA):
            return value
    raise _unknown(key)


@cache
def keys() -> tuple[NodeKey, ...]:
    """Every node version there is, sorted; walks the tree and imports no node."""
    found = []
    for mode in ("stream", "batch"):
        for root in execnodes.__path__:
            for node in pkgutil.iter_modules([f"{root}/{mode}"]):
                for version in pkgutil.iter_modules([f"{root}/{mode}/{node.name}"]):
                    if version.name[1:].isdigit():
                        found.append(NodeKey(f"{mode}-exec-{node.name.replace('_', '-')}", int(version.name[1:])))
    return tuple(sorted(found))


def newest(name: str) -> type[ExecNode]:
    """The newest version of a node; the planner makes no other."""
    return lookup(max(key for key in keys() if key.name == name))


def _unknown(key: NodeKey) -> UnknownNodeError:
    versions = [other for other in keys() if other.name == key.name]
    known = f"this engine has {', '.join(map(str, versions))}" if versions else "this engine has no node of that name"
    dropped = bool(versions) and key < max(versions)
    upgrade = "COMPILE PLAN 'new.json' FROM 'old.json', or rekindle upgrade old.json -o new.json"
    return UnknownNodeError(
        f"unknown node {key}: {known}{', and no longer executes that version' if dropped else ''}",
        hint=f"Upgrade the plan: {upgrade}."
        if dropped
        else f"Run it with the release that wrote it. Plans of older releases are upgraded: {upgrade}.",
    )
