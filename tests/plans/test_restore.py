"""Restoring tables: the rules, one case each."""

from dataclasses import dataclass, field

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.tables import Column, PrimaryKey, ResolvedTable, TableReference
from execnodes.core.types import BIGINT, INT
from plans.compatibility.restore import CatalogTable, Mode, resolve_tables
from plans.format.codec import CompileOptions, Identifier, encode
from plans.format.load import load
from plans.format.node_tables import tables_of
from tests.plans.nodes import ORDERS, TOTALS, example, orders_table, totals_table

IN_PLAN = orders_table()
ELSEWHERE = orders_table(path="/data/elsewhere", more="1")
SCHEMA = IN_PLAN.model_copy(update={"options": None, "comment": None})


@dataclass
class Catalog:
    orders: ResolvedTable | None = None
    temporary: bool = False
    asked: list[Identifier] = field(default_factory=list)

    def lookup(self, identifier: Identifier) -> CatalogTable | None:
        self.asked.append(identifier)
        if identifier == TOTALS:
            return CatalogTable(totals_table(), True)
        return CatalogTable(self.orders, self.temporary) if self.orders else None


def restored(table: TableReference, catalog: Catalog, mode: Mode = "ALL", enrich: bool = True) -> ResolvedTable:
    graph = resolve_tables(example(source=table), catalog, mode, enrich)
    (found,) = tables_of(graph.nodes[0])
    assert found.resolved_table is not None
    assert found.identifier == table.identifier
    return found.resolved_table


FULL = TableReference(identifier=ORDERS, resolved_table=IN_PLAN)
SCHEMA_ONLY = TableReference(identifier=ORDERS, resolved_table=SCHEMA)
NAME_ONLY = TableReference(identifier=ORDERS)
INLINE = TableReference(resolved_table=IN_PLAN)
MERGED = ELSEWHERE


@pytest.mark.parametrize(
    ("table", "catalog", "mode", "enrich", "expected"),
    [
        (INLINE, Catalog(), "ALL", True, IN_PLAN),
        (INLINE, Catalog(), "IDENTIFIER", True, IN_PLAN),
        (FULL, Catalog(), "ALL", True, IN_PLAN),
        (FULL, Catalog(ELSEWHERE), "ALL", False, IN_PLAN),
        (FULL, Catalog(ELSEWHERE), "ALL", True, MERGED),
        (FULL, Catalog(ELSEWHERE), "IDENTIFIER", True, ELSEWHERE),
        (FULL, Catalog(ELSEWHERE), "ALL_ENFORCED", True, IN_PLAN),
        (FULL, Catalog(), "ALL_ENFORCED", True, IN_PLAN),
        (SCHEMA_ONLY, Catalog(ELSEWHERE), "ALL", True, ELSEWHERE),
        (SCHEMA_ONLY, Catalog(ELSEWHERE), "IDENTIFIER", True, ELSEWHERE),
        (NAME_ONLY, Catalog(ELSEWHERE), "ALL", True, ELSEWHERE),
        (NAME_ONLY, Catalog(ELSEWHERE), "IDENTIFIER", False, ELSEWHERE),
        (NAME_ONLY, Catalog(ELSEWHERE, temporary=True), "ALL_ENFORCED", True, ELSEWHERE),
    ],
)
def test_where_a_table_comes_from(
    table: TableReference, catalog: Catalog, mode: Mode, enrich: bool, expected: ResolvedTable
) -> None:
    assert restored(table, catalog, mode, enrich) == expected
    hinted = restored(table.model_copy(update={"hints": {"path": "/hint"}}), catalog, mode, enrich)
    assert hinted.options == {**(expected.options or {}), "path": "/hint"}


def test_the_plans_own_options_stay_where_the_catalog_has_none() -> None:
    catalog = Catalog(IN_PLAN.model_copy(update={"options": {"connector": "filesystem", "new": "1"}}))
    expected = {"connector": "filesystem", "path": "/data/orders", "new": "1"}
    assert restored(FULL, catalog).options == expected


@pytest.mark.parametrize(
    ("table", "catalog", "mode", "message"),
    [
        (TableReference(), Catalog(), "ALL", "neither an identifier nor a schema"),
        (TableReference(resolved_table=SCHEMA), Catalog(), "ALL", "neither an identifier nor a schema with options"),
        (NAME_ONLY, Catalog(), "ALL", "not in the catalog, and the plan holds only its identifier"),
        (FULL, Catalog(), "IDENTIFIER", "not in the catalog, and the plan's own copy may not be used"),
        (SCHEMA_ONLY, Catalog(), "ALL", "holds its schema without options"),
        (SCHEMA_ONLY, Catalog(IN_PLAN), "ALL_ENFORCED", "does not hold all of table .* ALL_ENFORCED"),
        (NAME_ONLY, Catalog(IN_PLAN), "ALL_ENFORCED", "does not hold all of table .* ALL_ENFORCED"),
        (FULL, Catalog(orders_table(connector="kafka")), "ALL", "'connector' is 'filesystem' in the plan and 'kafka'"),
    ],
)
def test_what_cannot_be_restored(table: TableReference, catalog: Catalog, mode: Mode, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        restored(table, catalog, mode)
    assert "node 1 (stream-exec-probe-scan_1)" in str(caught.value)
    assert caught.value.hint


BARE: dict[str, object] = {"watermark_specs": (), "primary_key": None}
"""Beside columns that neither watermark nor key would fit."""


def columns(**changes: Column) -> dict[str, object]:
    given = IN_PLAN.table_schema.columns
    return {"columns": tuple(changes.get(each.name, each) for each in given)}


@pytest.mark.parametrize(
    ("schema", "partition_keys", "message"),
    [
        (
            {"columns": IN_PLAN.table_schema.columns[:2], **BARE},
            (),
            "number of columns is 3 in the plan and 2 in",
        ),
        (columns(id=Column(name="id", data_type=BIGINT)), None, "column 1 is `id` INT NOT NULL .* and `id` BIGINT"),
        ({**columns(id=Column(name="no", data_type=INT.not_null())), **BARE}, (), "column 1 is `id` .* and `no` INT"),
        (
            columns(id=Column(name="id", data_type=INT.not_null(), kind="METADATA", metadata_key="offset")),
            None,
            "column 1 .* METADATA FROM 'offset' in the catalog",
        ),
        ({"columns": tuple(reversed(IN_PLAN.table_schema.columns)), **BARE}, (), "column 1 is"),
        ({"primary_key": None}, None, r"the primary key is \(id\) in the plan and \(\) in the catalog"),
        ({"watermark_specs": ()}, None, "the watermark is FOR `ts` AS .* in the plan and  in the catalog"),
        ({}, (), "PARTITIONED BY is .* in the plan and"),
    ],
)
@pytest.mark.parametrize("mode", ["ALL", "IDENTIFIER"])
def test_plan_and_catalog_must_agree(
    schema: dict[str, object], partition_keys: tuple[str, ...] | None, message: str, mode: Mode
) -> None:
    changed = IN_PLAN.table_schema.model_copy(update=schema)
    keys = IN_PLAN.partition_keys if partition_keys is None else partition_keys
    catalog = Catalog(ResolvedTable(table_schema=changed, partition_keys=keys, options=IN_PLAN.options))
    with pytest.raises(PlanError, match=f"table {'.'.join(ORDERS)} has changed: .*{message}"):
        restored(FULL, catalog, mode)
    assert restored(FULL, catalog, "ALL_ENFORCED") == IN_PLAN


def test_names_and_comments_of_constraints_may_differ() -> None:
    schema = IN_PLAN.table_schema.model_copy(update={"primary_key": PrimaryKey(name="PK_77", columns=("id",))})
    catalog = Catalog(IN_PLAN.model_copy(update={"table_schema": schema, "comment": "other"}))
    assert restored(FULL, catalog) == IN_PLAN


def test_a_plan_of_identifiers_runs_with_the_tables_of_the_session() -> None:
    text = encode(example(), CompileOptions(catalog_objects="IDENTIFIER"))
    graph = resolve_tables(load(text), Catalog(IN_PLAN))
    assert encode(graph) == encode(example())
