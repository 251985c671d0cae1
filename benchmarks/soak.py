"""Half an hour at 50,000 events a second: what the processes of a job hold, and what its folder has.

Bids of Nexmark are counted by bidder (state that grows with the bidders) and by windows of ten seconds (state that
comes and goes). REKINDLE_BENCH_MINUTES says how long.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.common import PARALLELISM, median
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob
from rekindle.spark.session import session

MINUTES = float(os.environ.get("REKINDLE_BENCH_MINUTES", "30"))
RATE, EVERY = 50_000, 15.0
"""Events a second; seconds between two looks."""
_SCRIPT = f"""
CREATE TABLE events (
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, ts TIMESTAMP(3), extra STRING>,
  ts AS bid.ts, WATERMARK FOR ts AS ts - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'rows-per-second' = '{RATE}', 'first-event.rate' = '{RATE}');
CREATE TABLE bidders (bidder BIGINT, n BIGINT, total BIGINT, PRIMARY KEY (bidder) NOT ENFORCED)
  WITH ('connector' = 'blackhole');
CREATE TABLE windows (w TIMESTAMP(3), auction BIGINT, n BIGINT)
  WITH ('connector' = 'duckdb', 'path' = '{{folder}}/out.duckdb', 'table' = 'windows');
EXECUTE STATEMENT SET BEGIN
INSERT INTO bidders SELECT bid.bidder, COUNT(*), SUM(bid.price) FROM events WHERE bid IS NOT NULL GROUP BY bid.bidder;
INSERT INTO windows SELECT window_end, bid.auction, COUNT(*)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE bid IS NOT NULL
  GROUP BY window_start, window_end, bid.auction;
END;
"""


def figures() -> dict[str, float]:
    """Each at the end of the first, second and last third: the median of the looks around it."""
    with tempfile.TemporaryDirectory(prefix="bench-soak-") as name:
        folder = Path(name)
        options = {"parallelism.default": str(PARALLELISM), "execution.job-dir": str(folder / "job")}
        environment = TableEnvironment.create(options, spark=session(PARALLELISM, {"spark.driver.memory": "2g"}))
        job = environment.execute_plan(environment.compile_script(_SCRIPT.format(folder=folder))).job
        assert isinstance(job, StreamJob)
        begun, looks = time.monotonic(), list[dict[str, float]]()
        while time.monotonic() - begun < 60 * MINUTES:
            time.sleep(EVERY)
            assert not job.has_ended
            looks.append(_look(folder / "job"))
        batches = job.batches()
        rows, seconds = sum(n for n, _ in batches), time.monotonic() - begun
        job.stop()
    found = {"events a second": rows / seconds, "micro-batches": float(len(batches))}
    third = len(looks) // 3
    for what in looks[0]:
        for at, of in ((third, "first"), (2 * third, "second"), (len(looks), "last")):
            found[f"{what}, end of the {of} third"] = median([each[what] for each in looks[max(0, at - 5) : at]])
    return found


def _look(folder: Path) -> dict[str, float]:
    held = dict.fromkeys(("driver's Python, MB", "Java, MB", "workers, MB"), 0.0)
    family, parents = {os.getpid()}, _parents()
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    for pid in family:
        command = _read(f"/proc/{pid}/comm").strip()
        kind = "driver's Python, MB" if pid == os.getpid() else "Java, MB" if command == "java" else "workers, MB"
        held[kind] += _private(pid)
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {**held, "files": float(len(files)), "folder, MB": sum(map(_size, files)) / 2**20}


def _parents() -> dict[int, int]:
    stats = {int(each.name): _read(f"{each}/stat") for each in Path("/proc").iterdir() if each.name.isdigit()}
    return {pid: int(text.rpartition(")")[2].split()[1]) for pid, text in stats.items() if text}


def _private(pid: int) -> float:
    """Megabytes of its own; segments are mapped files, which are the kernel's to drop."""
    lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024


def _read(path: str) -> str:
    """Nothing of a process that has ended meanwhile."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
