"""Draws the pictures of README.md from real runs.

``python -m docs.pictures`` draws the terminal, ``python -m docs.pictures report`` the report (needs ``chromium``).

The example is the README's own: its first block of SQL, and the change that its text names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

README = Path(__file__).parent.parent / "README.md"
PICTURES = Path(__file__).with_name("pictures")
COMMANDS = (
    "rekindle compile -f new.sql --from old.json -o new.json",
    "rekindle compile -f max.sql --from old.json -o max.json",
)
"""What the picture of the terminal shows, after `old.sql` has been compiled."""
_WIDTH = 118
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
    <style>
    .{unique_id}-matrix {{
        font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
    }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""
"""As Rich draws a terminal, without fonts from elsewhere."""
CHROMIUM = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync")  # fmt: skip


def programs() -> dict[str, str]:
    """The scripts of the example by file name: as it was, with the README's change, with MAX for SUM."""
    page = README.read_text(encoding="utf-8")
    (old, *_) = re.findall(r"```sql\n(.*?)```", page, re.S)
    (change,) = re.findall(r"`new\.sql` ends in `(GROUP BY [^`]*)`", page)
    return {
        "old.sql": old,
        "new.sql": old.replace("GROUP BY customer", change),
        "max.sql": old.replace("SUM(amount)", "MAX(amount)"),
    }


def lines(folder: Path, commands: tuple[str, ...] = COMMANDS) -> Iterator[str]:
    """Commands, each behind a prompt, and what they print, in a folder that gets the example."""
    for name, text in programs().items():
        (folder / name).write_text(text, encoding="utf-8")
    _run(folder, "rekindle compile -f old.sql -o old.json")
    for command in commands:
        yield f"$ {command}"
        yield from _run(folder, command).splitlines()


def _run(folder: Path, command: str) -> str:
    words = [sys.executable, "-m", "rekindle.cli.main", *command.split()[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=_environment())
    return done.stdout + done.stderr


def _environment() -> dict[str, str]:
    paths = [str(README.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def terminal(shown: Iterable[str]) -> str:
    """An SVG of a terminal with these lines."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=_WIDTH, file=nowhere, highlight=False, force_terminal=True)
        for line in shown:
            style = "bold" if line.startswith("$ ") else _STYLES.get(line.split(" ", 1)[0], "")
            console.print(Text(line, style=style))
        return console.export_svg(title="rekindle", code_format=_SVG, unique_id="rekindle")


_STYLES = {"error:": "red", "keep": "green", "verdict:": "bold"}


def main(name: str = "terminal") -> None:
    """Draw the picture of this name."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        shown = list(lines(folder))
        if name == "terminal":
            (PICTURES / "terminal.svg").write_text(terminal(shown), encoding="utf-8")
            return
        _run(folder, "rekindle report old.json new.json -o report.html")
        size = ("--window-size=1200,1350", f"--user-data-dir={folder / 'browser'}")
        browser = shutil.which("chromium") or sys.exit("there is no chromium")
        target = f"--screenshot={PICTURES / 'report.png'}"
        subprocess.run(
            [browser, *CHROMIUM, *size, target, (folder / "report.html").as_uri()],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
