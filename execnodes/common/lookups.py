"""Lookup joins of streams and of batch mode: what a plan says of them, and their text for Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal as Tag

from execnodes.common.unnesting import EACH, condition_problem, fields_of, members_where
from execnodes.core.expressions import Expression, InputRef, input_indexes
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.meaning import RowsMeaning, column_term, expression_term
from execnodes.core.node import ExecNode, PlanModel
from execnodes.core.outputs import Outputs, types
from execnodes.core.tables import TableReference
from execnodes.core.types import TEXTS, Field, LogicalType, array, row
from execnodes.lowering.spark_sql import text_literal
from execnodes.lowering.stream import ACTIVE
from execnodes.lowering.user_calls import PREFIX
from execnodes.terms.term import leaf, said


class LookupTableSource(PlanModel):
    """What is asked."""

    table: TableReference


class TemporalTable(PlanModel):
    """A table as it is when a row comes."""

    lookup_table_source: LookupTableSource
    output_type: LogicalType
    """A ROW: the columns of the table that are read, by their names."""


class LookupKey(PlanModel):
    """What a row of the table must have to be found."""

    column: ColumnIndex
    """Of the temporal table."""
    value: Expression
    """Over the columns of the input; NULL finds nothing."""

    def scope(self, name: str, around: Scope) -> Scope:
        """The value is over the input alone."""
        return around.side(0) if name == "value" else around


class LookupNode(ExecNode):
    """Joins each row to the rows that a table has for its keys when it comes; rows keep their kinds."""

    join_type: Tag["INNER", "LEFT"]
    """LEFT: a row that finds nothing is given once, with NULLs."""
    temporal_table: TemporalTable
    lookup_keys: tuple[LookupKey, ...]
    filter_on_temporal_table: Expression | None = None
    """Over the columns of the temporal table: rows for which it is not TRUE are not there."""
    projection_on_temporal_table: tuple[Expression, ...]
    """Over the columns of the temporal table: the columns behind those of the input."""
    join_condition: Expression | None = None
    """Over the columns of the input and the projection: rows for which it is not TRUE are not joined."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Most of it reads the temporal table."""
        match name:
            case "lookup_keys" | "filter_on_temporal_table" | "projection_on_temporal_table":
                return around.over(self.temporal_table.output_type.fields, "the temporal table")
            case "join_condition":
                return around.over((*around.columns, *self._found.fields), "its input and projectionOnTemporalTable")
            case _:
                # The rest is as in any node.
                return around

    @property
    def function(self) -> str:
        """The name under which Spark knows what asks the table; the same in every process."""
        return PREFIX + hashlib.sha256(f"{self.id}:{self.temporal_table.model_dump_json()}".encode()).hexdigest()[:20]

    @property
    def answer_type(self) -> LogicalType:
        """What the table gives for a row: an ARRAY of ROWs of its columns c0, c1, …."""
        fields = self.temporal_table.output_type.fields
        return array(row(*(Field(f"c{at}", each.type) for at, each in enumerate(fields))).not_null())

    @property
    def _found(self) -> LogicalType:
        """A ROW: what is joined to a row."""
        given = enumerate(self.projection_on_temporal_table)
        return row(*(Field(f"c{at}", each.type) for at, each in given)).not_null()

    @property
    def found_type(self) -> LogicalType:
        """An ARRAY of what is joined to a row."""
        return array(self._found)

    def found(self, columns: Sequence[str], zone: str) -> str:
        """Spark SQL of what is joined to a row, `found_type`."""
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        stored = self.answer_type.element
        there = fields_of(EACH, stored)
        keys = (functions.lower(each.value, columns, zone) for each in self.lookup_keys)
        text = f"{self.function}({', '.join((ACTIVE, *keys))})"
        if self.filter_on_temporal_table is not None:
            text = members_where(text, functions.lower(self.filter_on_temporal_table, there, zone))
        if not self._gives_all:
            cells = (functions.lower(each, there, zone) for each in self.projection_on_temporal_table)
            named = (f"{text_literal(f'c{at}')}, {cell}" for at, cell in enumerate(cells))
            text = f"transform({text}, {EACH} -> named_struct({', '.join(named)}))"
        if self.join_condition is None:
            return text
        both = (*columns, *fields_of(EACH, self._found))
        return members_where(text, functions.lower(self.join_condition, both, zone))

    @property
    def _gives_all(self) -> bool:
        given = self.projection_on_temporal_table
        places = [each.input_index if isinstance(each, InputRef) else None for each in given]
        return places == list(range(len(self.temporal_table.output_type.fields)))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and what the table has."""
        padded = self.join_type == "LEFT"
        added = [each.type.with_nullable(each.type.nullable or padded) for each in self.projection_on_temporal_table]
        yield "its input and projectionOnTemporalTable give", [*types(inputs[0]), *added]

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """There is a key, the columns are those of the table, and Spark can compute the conditions."""
        fields, width = self.temporal_table.output_type.fields, len(inputs[0].fields)
        if not self.lookup_keys:
            raise self.fail("lookupKeys is empty: a table cannot be looked up without a key")
        for key in self.lookup_keys:
            if not 0 <= key.column < len(fields):
                raise self.fail(f"lookupKeys names column {key.column} of {len(fields)} columns")
            if max(input_indexes(key.value), default=-1) >= width:
                raise self.fail(f"a lookup key reads columns that its input of {width} columns does not have")
            given, stored = key.value.type.root, fields[key.column].type.root
            if given is not stored and not {given, stored} <= set(TEXTS):
                raise self.fail(
                    f"a lookup key is {key.value.type}, but {fields[key.column].name} is {fields[key.column].type}"
                )
        for condition in (self.filter_on_temporal_table, self.join_condition):
            problem = condition_problem(condition)
            if problem is not None:
                raise self.fail(problem)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Columns of the input are what they were; others those of rows that are found."""
        (rows,) = inputs
        zone = self.configuration.get("table.local-time-zone", "UTC")
        table = leaf("table", self.temporal_table.lookup_table_source.table.name)
        stored = tuple(column_term(table, each) for each in self.temporal_table.output_type.fields)
        there = RowsMeaning(self.temporal_table.output_type, stored, table)
        keys = frozenset(
            said("key", "{column} = {value}", column=stored[each.column], value=expression_term(each.value, rows, zone))
            for each in self.lookup_keys
        )
        conditions = set(keys)
        if self.filter_on_temporal_table is not None:
            conditions.add(expression_term(self.filter_on_temporal_table, there, zone))
        given = tuple(expression_term(each, there, zone) for each in self.projection_on_temporal_table)
        columns = (*rows.columns, *given)
        if self.join_condition is not None:
            conditions.add(expression_term(self.join_condition, rows.made(self.output_type, columns, table), zone))
        origin = said(
            "lookup",
            "{input} {join} LOOKUP JOIN {table} ON {condition}",
            input=rows.rows,
            join=leaf("join", self.join_type),
            table=table,
            condition=frozenset(conditions),
        )
        return rows.made(self.output_type, columns, origin)
