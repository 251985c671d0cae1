"""Text files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, text: str, *, replace: bool) -> None:
    """Write UTF-8 text; missing folders are made. Without `replace`, FileExistsError if the file is there already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            # A hard link is refused when the name is taken, even if another process took it a moment ago.
            path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)
