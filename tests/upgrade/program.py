"""A pipeline with every kind of state, and what a release can run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from execnodes.core.version import version_tuple
from rekindle.testing import RestoreProgram, changes
from rekindle.testing.restore_fixtures import PLAN
from releases import Release
from tests.restore.program import programs
from tests.spark_releases.program import SHOP

EVERYTHING = RestoreProgram(
    "everything",
    SHOP.sql
    + """
CREATE TABLE accounts (id INT NOT NULL, owner STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/accounts', 'format' = 'debezium-json');
CREATE FUNCTION weighted AS 'tests.upgrade.functions.WeightedMean' LANGUAGE PYTHON;
""",
    {
        **SHOP.queries,
        "first": "SELECT customer, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts) AS n "
        "FROM orders) WHERE n = 1",
        "normalized": "SELECT id, owner, v FROM accounts",
        "owners": "SELECT owner, COUNT(*) AS n, SUM(v) AS s FROM accounts GROUP BY owner",
        "means": "SELECT customer, weighted(amount, amount) AS m FROM orders GROUP BY customer",
    },
    {
        **SHOP.before,
        "accounts/0.json": changes(
            "id owner v", '+ 1 "ann" 5', '+ 2 "bob" 6', '= 1 "ann" 5 -> 1 "ann" 7', '+ 3 "ann" 8', '- 2 "bob" 6'
        ),
    },
    {
        **SHOP.after,
        "accounts/1.json": changes("id owner v", '- 1 "ann" 7', '+ 2 "bob" 9', '= 3 "ann" 8 -> 3 "cat" 1'),
    },
    {"table.exec.source.cdc-events-duplicate": "true"},
    numbers=SHOP.numbers,
)  # fmt: skip


SHORT = replace(
    EVERYTHING,
    name="short",
    queries={name: EVERYTHING.queries[name] for name in ("totals", "first", "normalized")},
)
"""Of nodes that 1.1 and 1.2 have changed, and one that they have not."""
MOVED = replace(SHORT, name="moved", queries={name: SHORT.queries[name] for name in ("totals", "first")})
"""Of node versions that are still there, one of which keeps other state since 1.1."""
STEADY = RestoreProgram(
    "steady",
    SHOP.sql,
    {name: SHOP.queries[name] for name in ("totals", "minutes", "cities")},
    SHOP.before,
    SHOP.after,
    numbers=SHOP.numbers,
)
"""Of nodes whose state is laid out as in 1.0."""


def runnable(release: Release) -> Iterator[RestoreProgram]:
    """The restore programs of node versions that a release, or one before it, had first, and that can go on."""
    limit = version_tuple(release.engine_version)
    for program in programs():
        if program.refused:
            continue
        plan = json.loads((program.fixture / PLAN).read_text(encoding="utf-8"))
        if version_tuple(plan["engineVersion"]) <= limit:
            yield program
