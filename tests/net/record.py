"""``python -m tests.net.record [functions] [operators] [queries]`` adds what the wheels of releases give.

Nothing is rewritten. A version of a function or a node is recorded by the release that first had it. Without arguments:
all three.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from releases import releases
from tests.net.records import FILES, Record, read, write
from tests.upgrade.engines import Engine

_MODULES = {"functions": "tests.net.work", "operators": "tests.net.operators", "queries": "tests.net.queries"}


def main(kinds: Sequence[str]) -> None:
    """Add records of these kinds, release by release."""
    with tempfile.TemporaryDirectory() as folder:
        engines = [Engine.install(each, Path(folder)) for each in releases()]
        for kind in kinds:
            records, known = read(FILES[kind]), set[str]()
            for engine in engines:
                version = engine.release.version
                here = [each for each in records if each["release"] == version]
                order = {"release": version, "known": sorted(known), "done": [_identity(each) for each in here]}
                answer = _run(engine, _MODULES[kind], order, Path(folder))
                records += answer["records"]
                known |= {*answer["versions"], *engine.release.nodes}
                print(f"{version}: {len(answer['records'])} records of {kind} are new", flush=True)
            write(FILES[kind], records)


def _identity(record: Record) -> str:
    """What it records: no two records of a release are of the same, but for their zones."""
    return str(record.get("sql") or record.get("query") or f"{record['program']} {record['node']}")


def _run(engine: Engine, module: str, order: dict[str, Any], folder: Path) -> dict[str, Any]:
    path = folder / "order.json"
    path.write_text(json.dumps(order), encoding="utf-8")
    done = engine.run("-m", module, str(path))
    if done.returncode:
        raise SystemExit(f"the wheel of {engine.release.version} fails:\n{done.stdout}{done.stderr}")
    print(done.stdout, end="")
    answer: dict[str, Any] = json.loads(path.with_suffix(".answer").read_text(encoding="utf-8"))
    return answer


if __name__ == "__main__":
    main(sys.argv[1:] or list(_MODULES))
