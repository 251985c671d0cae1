"""Where a plan is to be loaded from: a file or a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from execnodes.core.errors import PlanError
from rekindle.files.paths import entered

_ADDRESS = re.compile(r"(file:(?://(?:localhost)?)?(?=/))|[a-zA-Z][\w+.-]+://")


@dataclass(frozen=True, slots=True)
class PlanReference:
    """A plan that has not been read yet; what `TableEnvironment.load_plan` takes."""

    path: Path | None = None
    text: str | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> PlanReference:
        """A plan in a file, given by path or by a ``file:`` address."""
        return cls(path=local_path(path))

    @classmethod
    def from_json_string(cls, text: str) -> PlanReference:
        """A plan given as JSON."""
        return cls(text=text)

    @property
    def source(self) -> str:
        """Name for messages."""
        return str(self.path) if self.path else "<plan>"

    def read(self) -> str:
        """The text of the plan; PlanError if the file cannot be read."""
        if self.path is None:
            return self.text or ""
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            hint = f"Make it: COMPILE PLAN '{self.path}' FOR INSERT …"
            raise PlanError("there is no such plan file", where=self.source, hint=hint) from None
        except UnicodeDecodeError as error:
            hint = "Restore the file or compile the plan anew."
            raise PlanError(f"the file is not UTF-8: {error.reason}", where=self.source, hint=hint) from None
        except OSError as error:
            hint = "Check the path and its permissions."
            raise PlanError(f"the plan file cannot be read: {error.strerror}", where=self.source, hint=hint) from None


def local_path(path: str | Path) -> Path:
    """The path of ``/a/p.json`` or ``file:///a/p.json``; PlanError for another kind of address."""
    address = None if isinstance(path, Path) else _ADDRESS.match(path)
    if address is not None and address[1] is None:
        raise PlanError(f"plans lie in local files, not at {path!r}", hint="Give a path or a file: address.")
    local = str(path) if address is None else unquote(str(path)[address.end() :])
    entered(local)
    return Path(local)
