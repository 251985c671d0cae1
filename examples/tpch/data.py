"""The eight tables as Parquet files, made by tpchgen-cli."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def generate(scale: float, folder: Path) -> Path:
    """The folder with the tables of a scale factor (1 is 6 million lines), made once."""
    target = folder / f"tpch-{scale:g}"
    if target.exists():
        return target
    tool = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or shutil.which("tpchgen-cli")
    if tool is None:
        sys.exit("tpchgen-cli is not installed: pip install 'rekindle[tpch]'")
    hidden = target.with_name(f".{target.name}")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)
    command = [tool, "parquet", "--scale-factor", f"{scale:g}", "--output-dir", str(hidden), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    hidden.rename(target)
    return target
