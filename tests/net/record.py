"""``python -m tests.net.record`` runs the wheels of all releases and adds what is not recorded yet; it never rewrites.

A version of a function or a node is recorded by the release that first had it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from releases import releases
from tests.net.records import FUNCTIONS, OPERATORS, read, write
from tests.upgrade.engines import Engine


def main() -> None:
    """Add records."""
    functions, operators = read(FUNCTIONS), read(OPERATORS)
    known: set[str] = set()
    nodes: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for release in releases():
            engine = Engine.install(release, Path(folder))
            done = [each["sql"] for each in functions if each["release"] == release.version]
            answer = _run(engine, {"known": sorted(known), "done": done}, Path(folder))
            functions += answer["records"]
            known |= set(answer["functions"])
            held = {json.dumps([each["program"], each["node"]]) for each in operators}
            found = _run(engine, {"known": sorted(nodes)}, Path(folder), "tests.net.operators")["records"]
            fresh = [each for each in found if json.dumps([each["program"], each["node"]]) not in held]
            operators += fresh
            nodes |= set(release.nodes)
            new = f"{len(answer['records'])} records of functions are new, {len(fresh)} of operators"
            print(f"{release.version}: {new}", flush=True)
    write(FUNCTIONS, functions)
    write(OPERATORS, operators)


def _run(engine: Engine, order: dict[str, Any], folder: Path, module: str = "tests.net.work") -> dict[str, Any]:
    release = engine.release.version
    path = folder / "order.json"
    path.write_text(json.dumps({"release": release, **order}), encoding="utf-8")
    done = engine.run("-m", module, str(path))
    if done.returncode:
        raise SystemExit(f"the wheel of {release} fails:\n{done.stdout}{done.stderr}")
    print(done.stdout, end="")
    answer: dict[str, Any] = json.loads(path.with_suffix(".answer").read_text(encoding="utf-8"))
    return answer


if __name__ == "__main__":
    main()
