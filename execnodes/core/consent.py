"""Which modules may be imported because a plan or a savepoint names a class of theirs: none, without consent.

Plans and savepoints are data, and may come from anywhere. What the program itself registers is consent for the modules
that it comes from; more are allowed by the option `pipeline.classes.allowed`. Consent holds for the whole process: what
has been imported cannot be taken back.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from typing import Any

from execnodes.core.errors import RekindleError

OPTION = "pipeline.classes.allowed"
_granted: set[str] = set()


class ClassNotAllowedError(RekindleError):
    """A plan or a savepoint names a class of a module that nobody has allowed."""


def grant(modules: Iterable[str]) -> None:
    """Allow modules and what is in them: ``jobs.functions`` also allows ``jobs.functions.sums``."""
    _granted.update(each.strip() for each in modules if each.strip())


def granted() -> frozenset[str]:
    """The modules that are allowed now, to be granted again in another process."""
    return frozenset(_granted)


def allows(module: str, allowed: Iterable[str] | None = None) -> bool:
    """Whether a module is one that is allowed, or in one."""
    prefixes = _granted if allowed is None else allowed
    return any(module == each or module.startswith(f"{each}.") for each in prefixes)


def require(module: str, what: str) -> None:
    """ClassNotAllowedError unless the module is allowed; `what` says where it is named."""
    if not allows(module):
        raise ClassNotAllowedError(
            f"{what} names a class of module {module!r}, which is not allowed to be imported",
            hint=f"If you trust it, allow it: -D {OPTION}={module}, or SET '{OPTION}' = '{module}'. Or register the "
            "function in this session.",
        )


def resolve(name: str, what: str) -> Any:
    """What ``module:name`` (or ``module.name``) names; ClassNotAllowedError, ValueError, or what importing raises."""
    if not module_of(name):
        raise ValueError(f"{name!r} names no class of a module")
    require(module_of(name), what)
    return pkgutil.resolve_name(name)


def module_of(name: str) -> str:
    """The module of ``module:name`` or ``module.name``."""
    return name.partition(":")[0] if ":" in name else name.rpartition(".")[0]
