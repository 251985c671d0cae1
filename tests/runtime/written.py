"""What a running job has written: the sink's own files come and go below `_rekindle` while a test looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def written_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows in the JSON files of a table, in the order of their names; none before there is a folder."""
    files = sorted(folder.glob("[!._]*.json"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
