"""Every program of the oracle is built (or refused), and its SELECT has Flink's row type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execnodes.core.errors import CatalogError, SqlError
from execnodes.core.options import Configuration
from execnodes.core.types import parse_type
from planner import bind as build
from planner import ddl
from planner import statements as s
from planner.algebra import Logical
from planner.catalog.catalogs import Catalog
from planner.parse import parse

PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
UNSUPPORTED = ("ptf",)
"""Areas the front end refuses as a whole."""
REFUSED_LATER = (
    # Refused when the plan is optimised or translated, not when it is built.
    "interval-join/bound_column_refused",
    "nexmark/q6",
    "nexmark/q13_lookup",
    "over/two_windows",
    "over/two_windows_one_partition",
    "window/hop_not_multiple",
    "sort/by_event_time_desc_refused",
    "sort/non_temporal_option_refused",
    "top-n/dense_rank_function",
    "sink/updates_into_append_sink",
    "sink/upsert_key_differs_error",
    "sink/upsert_key_differs_nothing",
    "temporal-join/no_primary_key",
    "temporal-join/not_on_key",
)


def _programs() -> list[str]:
    return [str(path.parent.relative_to(PROGRAMS)) for path in sorted(PROGRAMS.glob("*/*/program.sql"))]


def build_program(folder: Path) -> list[tuple[s.Insert, Logical]]:
    """Each INSERT of a program with its plan; the DDL is applied."""
    catalog, configuration = Catalog(), Configuration()
    found: list[tuple[s.Insert, Logical]] = []
    for statement in parse((folder / "program.sql").read_text().replace("${dir}", str(folder))):
        if isinstance(statement, s.SetOption):
            continue
        inserts = (statement,) if isinstance(statement, s.Insert) else getattr(statement, "inserts", ())
        if not inserts:
            ddl.execute(statement, catalog, configuration)
        for insert in inserts:
            build.build_insert(insert, catalog, configuration)
            found.append((insert, build.build_query(insert.query, catalog, configuration)))
    return found


def _refused(folder: Path) -> bool:
    path = folder / "refused.txt"
    return path.exists() and not path.read_text().startswith("stage: run")


@pytest.mark.parametrize("name", _programs())
def test_program(name: str) -> None:
    folder = PROGRAMS / name
    if name.split("/")[0] in UNSUPPORTED:
        with pytest.raises(SqlError, match="not supported") as refusal:
            build_program(folder)
        assert refusal.value.position is not None
        return
    if _refused(folder) and name not in REFUSED_LATER:
        with pytest.raises((SqlError, CatalogError)) as raised:
            build_program(folder)
        assert raised.value.position is not None, raised.value
        return
    built = build_program(folder)
    expected = folder / "select-schema.json"
    if expected.exists() and len(built) == 1:
        fields = built[0][1].type.fields
        columns = [(name, str(parse_type(text).regular())) for name, text in json.loads(expected.read_text())]
        assert [(field.name, str(field.type.regular())) for field in fields] == columns
