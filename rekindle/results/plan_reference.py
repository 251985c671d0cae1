"""Where a plan is to be loaded from: a file or a text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from execnodes.core.errors import PlanError
from rekindle.files.paths import local_path


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
