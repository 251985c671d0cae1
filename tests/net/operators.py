"""``python -m tests.net.operators ORDER``: what stateful operators of a release make of changelogs.

Changes and state after each batch; beside the wheel of any release, as `work`.
The operators are those of the plans of restore fixtures, made by the release's own lowering, and run without Spark.
"""

from __future__ import annotations

import importlib.util
import json
import pickle
import sys
import zlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from tests.net.changelogs import Changelog
from tests.net.work import module, names

FIXTURES = Path(__file__).parents[1] / "restore" / "fixtures"
Record = dict[str, Any]
_END = 7_258_118_400_000
_BATCHES = ((10, 0), (10, 30_000), (8, 30_000), (8, 90_000), (0, _END))
"""Changes of each input, and the watermark after them (epoch milliseconds)."""
_FUNCTIONS = {
    **{each: each for each in ("shout", "asked", "words")},
    **{"wmean": "WeightedMean", "last_two": "LastTwo", "texts": "Texts", "countdown": "Countdown"},
    **{"longest": "Longest", "tally": "Tally", "merging": "MergingMean"},
}
"""What the plans name, and where it is in `tests.restore.functions`."""
KIND, HASH, SEQUENCE, WATERMARK, BUCKET = "rk_kind", "rk_hash", "rk_seq", "rk_wm", "rk_bucket"


_IN_PAGES = importlib.util.find_spec("execnodes.core.lowering") is not None


class MemoryState:
    """One state in memory; see `execnodes.state.operator.State`."""

    def __init__(self, spec: Any) -> None:
        self.spec = spec
        self.frame = pl.DataFrame(schema=spec.schema)
        self._address = [BUCKET, HASH] if spec.bucketed else [HASH]
        self._asked: pl.DataFrame | None = None

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        asked = addresses.select(self._address)
        # Until 1.2 a read gave what the reads before it had asked for, too, until all of it was written.
        self._asked = asked if self._asked is None or not _IN_PAGES else pl.concat([self._asked, asked])
        return self.frame.join(self._asked, on=self._address, how="semi")

    def write(self, rows: pl.DataFrame) -> None:
        assert self._asked is not None
        others = self.frame.join(self._asked, on=self._address, how="anti")
        self.frame = pl.concat([others, rows.select(self.frame.columns)])
        self._asked = None

    def append(self, rows: pl.DataFrame) -> None:
        self.frame = pl.concat([self.frame, rows.select(self.frame.columns)])

    def begin(self) -> None:
        self._asked = None

    def expire(self, until: int) -> pl.DataFrame:
        gone = self.frame.filter(pl.col(BUCKET) <= until)
        self.frame = self.frame.filter(pl.col(BUCKET) > until)
        return gone

    def scan(self) -> pl.DataFrame:
        return self.frame

    def buckets(self) -> list[int]:
        return self.frame[BUCKET].unique().sort().to_list()


class MemoryContext:
    """What an operator sees; see `execnodes.state.operator.Context`."""

    def __init__(self, operator: Any) -> None:
        self.watermark: int | None = None
        self.now = 1_000_000
        self.states = {spec.name: MemoryState(spec) for spec in operator.states}
        self.wakes: set[int] = set()

    def state(self, name: str) -> MemoryState:
        return self.states[name]

    def wake_at(self, watermark: int) -> None:
        self.wakes.add(watermark)

    def count(self, metric: str, rows: int) -> None:
        """Metrics are not recorded."""


def steps(text: str, source: str) -> tuple[Any, Any]:
    """The graph of a plan, and the record of its lowering."""
    graph = module("plans.format.load", "plans.load").load(text, source=source)
    recorded = module("rekindle.pipeline.record", "rekindle.runtime.record").record(graph)
    environment = import_module("rekindle.table_environment").TableEnvironment.create({})
    known: Any = import_module("rekindle.udf")
    # No function that a plan before 1.3 calls is one of tables, but they stand in one module.
    vars(known).setdefault("TableFunction", object)
    vars(known).setdefault("udtf", lambda function: function)
    for name, place in _FUNCTIONS.items():
        if f"`.`{name}`" in text:
            environment.execute_sql(f"CREATE FUNCTION {name} AS 'tests.restore.functions:{place}' LANGUAGE PYTHON")
    supply = module("rekindle.pipeline.functions", "rekindle.runtime.functions").supply_functions
    supply(recorded.steps.values(), environment.functions_of(graph))
    return graph, recorded


def inputs_of(step: Any) -> Sequence[Sequence[Any]]:
    """Columns of each input of an operator or of a pre-aggregation."""
    return step.operator.inputs if hasattr(step, "operator") else [step.kernel.inputs]


def run(step: Any, keys: list[list[int]], batches: Sequence[Record]) -> Iterator[Record]:
    """The batches with what a step makes of them: changes (``out``) and ``states``; rows in any order."""
    return _operated(step.operator, keys, batches) if hasattr(step, "operator") else _folded(step.kernel, batches)


def _operated(operator: Any, keys: list[list[int]], batches: Sequence[Record]) -> Iterator[Record]:
    context = MemoryContext(operator)
    sequence = 0
    for batch in batches:
        for state in context.states.values():
            state.begin()
        frames = []
        for columns, key, rows in zip(operator.inputs, keys, batch["inputs"], strict=True):
            frames.append(frame(operator, columns, key, rows, sequence, context.watermark))
            sequence += len(rows)
        parts = [operator.process(frames, context)]
        if context.watermark is None or batch["watermark"] > context.watermark:
            context.watermark = batch["watermark"]
        due = {wake for wake in context.wakes if wake <= context.watermark}
        if due:
            context.wakes -= due
            parts.append(operator.on_watermark(context))
        context.now += 60_000
        names = [each.name for each in operator.output]
        out = [part.select([*names, KIND]) for part in parts if part is not None and part.height]
        yield {**batch, "out": rows_of(out), "states": held(context)}


def held(context: MemoryContext) -> dict[str, list[list[Any]]]:
    """Rows of each state that a savepoint has."""
    kept = {name: each for name, each in context.states.items() if not each.spec.derived}
    return {name: [_in_order(row) for row in rows_of([each.frame])] for name, each in kept.items()}


def _folded(kernel: Any, batches: Sequence[Record]) -> Iterator[Record]:
    sequence = 0
    for batch in batches:
        (rows,) = batch["inputs"]
        out = kernel.fold(frame(kernel, kernel.inputs, kernel.keys, rows, sequence, None))
        sequence += len(rows)
        yield {**batch, "out": rows_of([out.select([*(each.name for each in kernel.output), KIND])]), "states": {}}


def frame(
    operator: Any, columns: Sequence[Any], key: Sequence[int], rows: list[list[Any]], first: int, watermark: int | None
) -> pl.DataFrame:
    """An input as the runtime gives it."""
    schema = {each.name: each.dtype for each in columns}
    values = [[decoded(each) for each in row[:-1]] for row in rows]
    data = pl.DataFrame(values, schema=schema, orient="row") if rows else pl.DataFrame(schema=schema)
    hashes = [zlib.crc32(repr([row[at] for at in key]).encode()) for row in rows]
    more = [
        pl.Series(KIND, [row[-1] for row in rows], dtype=pl.Int8),
        pl.Series(HASH, hashes, dtype=pl.Int64),
        pl.Series(SEQUENCE, range(first, first + len(rows)), dtype=pl.Int64),
    ]
    if getattr(operator, "row_watermarks", False):
        more.append(pl.Series(WATERMARK, [watermark] * len(rows), dtype=pl.Int64))
    return data.with_columns(more)


def rows_of(frames: Sequence[pl.DataFrame]) -> list[list[Any]]:
    """Rows of frames as JSON values, sorted."""
    found = [[_encoded(each) for each in row] for one in frames for row in one.rows()]
    return sorted(found, key=lambda row: json.dumps(row, ensure_ascii=False))


def _in_order(row: list[Any]) -> list[Any]:
    """A set that is pickled has another order in each process."""
    return [_sorted(each) if isinstance(each, dict) and each["hex"].startswith("8005") else each for each in row]


def _sorted(value: dict[str, str]) -> Any:
    held = pickle.loads(bytes.fromhex(value["hex"]))
    return {"set": sorted(held)} if isinstance(held, set) else value


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value


def decoded(value: Any) -> Any:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


def layout(step: Any) -> Record:
    """Columns and types of inputs, output and states."""

    def columns(of: Sequence[Any]) -> list[list[str]]:
        return [[each.name, str(each.type)] for each in of]

    states = step.operator.states if hasattr(step, "operator") else ()
    return {
        "inputs": [columns(each) for each in inputs_of(step)],
        "output": columns(step.output),
        "states": {each.name: columns(each.columns) for each in states if not each.derived},
    }


def records(release: str, known: set[str]) -> Record:
    """What this release makes of its own fixtures' operators: of those with a version that no earlier release had.

    ``versions``: of nodes, aggregates and functions, that the plans of the fixtures have in operators.
    """
    seen, found, versions = set[str](), [], set[str]()
    for path in sorted(FIXTURES.glob("*/*/plan.json")):
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
        if document["engineVersion"] != release.rpartition(".")[0]:
            continue
        nodes = {each["id"]: each for each in document["nodes"]}
        for each in _of_plan(text, path.parent.relative_to(FIXTURES).as_posix()):
            here = {each["key"], *names(nodes[each["node"]])}
            versions |= here
            same = json.dumps([each["key"], sorted(here), each["layout"], each["batches"]])
            if here - known and same not in seen:
                seen.add(same)
                found.append({"release": release, **each})
    return {"versions": sorted(versions), "records": found}


def _of_plan(text: str, program: str) -> Iterator[Record]:
    graph, lowered = steps(text, program)
    kinds = {each["id"]: each.get("changelogMode", "I") for each in json.loads(text)["nodes"]}
    made: dict[int, list[list[list[Any]]]] = {}
    for number, step in lowered.steps.items():
        modes = [kinds[each] for each in graph.inputs.get(number, ())]
        for nulls in (True, False):
            sources = [
                _passed(lowered, one.rows, made) or _drawn(columns, one.keys, mode, f"{program} {number} {at}", nulls)
                for at, (columns, one, mode) in enumerate(zip(inputs_of(step), step.inputs, modes, strict=True))
            ]
            batches = [
                {"watermark": watermark, "inputs": [source[at] for source in sources]}
                for at, (_, watermark) in enumerate(_BATCHES)
            ]
            keys = [list(each.keys) for each in step.inputs]
            try:
                found = list(run(step, keys, batches))
            except module("execnodes.core.errors").RekindleError as error:
                print(f"{program}, node {number}, {step.node.key}, NULL: {nulls}: {error!r:.200}")
                continue
            made[number] = [each["out"] for each in found]
            base = {"program": program, "node": number, "key": str(step.node.key), "keys": keys}
            yield {**base, "layout": layout(step), "batches": found}
            break


def _drawn(columns: Sequence[Any], keys: Sequence[int], mode: str, seed: str, nulls: bool) -> list[list[list[Any]]]:
    log = Changelog([(each.name, each.type) for each in columns], keys, mode, seed, nulls=nulls)
    return [[[_encoded(value) for value in row] for row in log.batch(steps)] for steps, _ in _BATCHES]


def _passed(lowered: Any, rows: Any, made: dict[int, list[list[list[Any]]]]) -> list[list[list[Any]]] | None:
    """The changes of the operator in front, where its columns come as they are."""
    if len(rows.branches) != 1 or rows.branches[0].condition is not None:
        return None
    branch = rows.branches[0]
    if branch.origin not in made:
        return None
    step = lowered.steps[branch.origin]
    texts = list(lowered._from_slots(step.node, step.output).branches[0].columns)
    if any(each not in texts for each in branch.columns):
        return None
    at = [texts.index(each) for each in branch.columns]
    return [[[*(row[i] for i in at), row[-1]] for row in batch] for batch in made[branch.origin]]


def main(path: Path) -> None:
    """Record what is asked for; the answer lies beside the order."""
    order = json.loads(path.read_text(encoding="utf-8"))
    found = records(order["release"], set(order["known"]))
    fresh = [each for each in found["records"] if f"{each['program']} {each['node']}" not in order["done"]]
    path.with_suffix(".answer").write_text(json.dumps({**found, "records": fresh}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
