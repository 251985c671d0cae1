"""Functions of the user as a catalog has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from execnodes.core import consent
from execnodes.user_functions.loading import Definition, definition_of, load


@dataclass(frozen=True)
class UserFunction:
    """A function of the user: named by its class, or given in Python."""

    class_name: str = ""
    language: str = "PYTHON"
    given: Any = None

    def __post_init__(self) -> None:
        """What the user's own program or script registers may be imported."""
        module = (
            consent.module_of(self.class_name) if self.given is None else str(getattr(self.given, "__module__", ""))
        )
        # What `udf` gives is an object of a class of ours.
        if not module.startswith("execnodes."):
            consent.grant([module])

    def definition(self, name: str) -> Definition:
        """What it is, under the name that SQL knows it by; FunctionError if it cannot be loaded."""
        return load(self.class_name, name) if self.given is None else definition_of(self.given, name)


@dataclass(frozen=True)
class FoundFunction:
    """A function of the user, and how a plan names it."""

    function: UserFunction
    system_name: str = ""
    catalog_name: str = ""
    class_name: str = ""
    """Of a permanent function."""

    @cached_property
    def definition(self) -> Definition:
        """What it is; FunctionError if it cannot be loaded."""
        return self.function.definition(self.system_name or self.catalog_name.rpartition("`.`")[2].rstrip("`"))
