"""Modules: where functions of the system come from. There is one, `core`."""

from __future__ import annotations

from execnodes.core.errors import CatalogError

CORE = "core"
_ONLY = "Rekindle's functions are all in 'core'; register others by CREATE FUNCTION … LANGUAGE PYTHON."


class Modules:
    """The modules of a session, and in which order they are looked through."""

    def __init__(self) -> None:
        self.used: tuple[str, ...] = (CORE,)

    def load(self, name: str) -> None:
        """LOAD MODULE: refused, as `core` is loaded and there is no other."""
        if name == CORE:
            raise CatalogError(f"a module {name!r} is loaded already", hint="Write USE MODULES to change the order.")
        raise _no_module(name)

    def unload(self, name: str) -> None:
        """UNLOAD MODULE: refused, as no SQL works without its functions."""
        if name != CORE:
            raise _no_module(name)
        raise CatalogError("the module 'core' cannot be unloaded: operators and casts come from it", hint=_ONLY)

    def use(self, names: tuple[str, ...]) -> None:
        """USE MODULES: these, in this order."""
        for name in names:
            if name != CORE:
                raise _no_module(name)
            if names.count(name) > 1:
                raise CatalogError(f"the module {name!r} is named twice")
        self.used = names


def _no_module(name: str) -> CatalogError:
    return CatalogError(f"there is no module {name!r}", hint=_ONLY)
