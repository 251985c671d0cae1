"""``python -m tests.net.record`` runs the wheels of all releases and adds what is not recorded yet; it never rewrites.

Each function version is recorded by the release that first had it (and by those after only where a version is new).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from releases import releases
from tests.net.records import FUNCTIONS, read, write
from tests.upgrade.engines import Engine


def main() -> None:
    """Add records of functions."""
    records = read(FUNCTIONS)
    known: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for release in releases():
            done = [each["sql"] for each in records if each["release"] == release.version]
            order = {"release": release.version, "known": sorted(known), "done": done}
            answer = _run(Engine.install(release, Path(folder)), order, Path(folder))
            records += answer["records"]
            known |= set(answer["functions"])
            print(f"{release.version}: {len(done)} records of functions, {len(answer['records'])} new", flush=True)
    write(FUNCTIONS, records)


def _run(engine: Engine, order: dict[str, Any], folder: Path) -> dict[str, Any]:
    path = folder / "order.json"
    path.write_text(json.dumps(order), encoding="utf-8")
    done = engine.run("-m", "tests.net.work", str(path))
    if done.returncode:
        raise SystemExit(f"the wheel of {order['release']} fails:\n{done.stdout}{done.stderr}")
    answer: dict[str, Any] = json.loads(path.with_suffix(".answer").read_text(encoding="utf-8"))
    return answer


if __name__ == "__main__":
    main()
