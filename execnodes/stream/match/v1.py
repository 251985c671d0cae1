"""Version 1 (2.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from execnodes.core.match_spec import ALL_ROWS, CONDITION_AGGREGATES, MatchSpec, RowReference
from execnodes.core.meaning import RowsMeaning, StateMeaning, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied, Outputs, applied
from execnodes.core.predicates import supported
from execnodes.core.types import TIMESTAMPS, LogicalType, Root, TimeKind
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.match.v1_kernel import MatchOperator


@exec_node_metadata(
    name="stream-exec-match",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["match"],
    min_plan_version="2.5",
    min_state_version="2.5",
)
class Match(ExecNode):
    """MATCH_RECOGNIZE by event time: a row for each run of rows of a key that has the form of a pattern.

    The output has the columns of the keys, then the measures. The input only adds rows.
    """

    match_spec: MatchSpec

    def uids(self) -> tuple[str, ...]:
        """One operator, which keeps rows."""
        return (self.uid("match"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """MATCH_ROWTIME()."""
        fields = self.output_type.fields
        return frozenset(at for at, each in enumerate(fields) if each.type.kind is TimeKind.ROWTIME)

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time that rows are in order of."""
        return ((self.match_spec.order_by.fields[0].index,),)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, whose rows are spread by the keys."""
        operator = self._operator(inputs[0].type)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.match_spec.partition),))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys and measures."""
        keys = [inputs[0].fields[at].type for at in self.match_spec.partition]
        yield "its keys and measures give", [*keys, *(each.type for each in self.match_spec.measures)]

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its aggregates, over what they read."""
        for name, references in (("references", self.match_spec.references), ("measures", self.match_spec.measures)):
            for at, each in enumerate(references):
                if each.is_aggregate:
                    for call in applied([each.call()], inputs[0], grouped=False):
                        yield replace(call, path=f"matchSpec.{name}[{at}]")

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist; rows are in order of a time; variables are what the pattern has; conditions can be asked."""
        spec, fields = self.match_spec, inputs[0].fields
        order = spec.order_by.fields
        references = (*spec.references, *spec.measures)
        read = [*spec.partition, *(each.index for each in order), *(at for each in references for at in each.arg_list)]
        if any(not 0 <= at < len(fields) for at in read):
            raise self.fail("it reads a column that its input does not have")
        if not order or fields[order[0].index].type.root not in TIMESTAMPS or not order[0].is_ascending:
            raise self.fail("its rows must be in ascending order of a time first")
        names = [each.name for each in spec.pattern]
        if not names or len({*names}) < len(names):
            raise self.fail("its pattern needs variables, each of them once")
        for each in spec.pattern:
            if each.min_rows < 0 or not (each.max_rows == -1 or 1 <= each.max_rows >= each.min_rows):
                raise self.fail(f"variable {each.name} takes {each.min_rows} to {each.max_rows} rows")
        if all(each.min_rows == 0 for each in spec.pattern) or spec.pattern[-1].greedy:
            raise self.fail("its pattern must need a row, and may not end in a greedy variable")
        if spec.after.skip.startswith("TO ") and spec.after.skip != "TO NEXT ROW" and spec.after.variable not in names:
            raise self.fail(f"{spec.after} names no variable of its pattern")
        for reference in references:
            self._check_reference(reference, names, inputs[0])
        for reference in spec.references:
            if reference.is_aggregate and reference.function not in CONDITION_AGGREGATES:
                raise self.fail(f"its definitions cannot read {reference.title} of {reference.variable}")
        for definition in spec.definitions:
            if definition.condition.type.root is not Root.BOOLEAN or not supported(definition.condition):
                raise self.fail(
                    f"the condition of {definition.variable} cannot be evaluated inside it",
                    "Compute what it needs in a subquery below MATCH_RECOGNIZE, as a column of its own.",
                )
        if len(self.output_type.fields) != len(spec.partition) + len(spec.measures):
            raise self.fail("its output must have the columns of its keys, then its measures")

    def _check_reference(self, reference: RowReference, names: list[str], row: LogicalType) -> None:
        if reference.variable != ALL_ROWS and reference.variable not in names:
            raise self.fail(f"it reads rows of {reference.variable}, which is no variable of its pattern")
        if reference.offset < 0 or (not reference.arg_list and reference.function != "$COUNT$1"):
            raise self.fail(f"{reference.function} of {reference.variable} reads no value")
        if not reference.is_aggregate:
            column = row.fields[reference.arg_list[0]]
            if reference.type.with_nullable(True).regular() != column.type.with_nullable(True).regular():
                raise self.fail(f"{reference.title} of {column.name} {column.type} is {reference.type}")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Matches: keys, then measures."""
        (rows,) = inputs
        measures = (_reference_term(each, rows) for each in self.match_spec.measures)
        return rows.made(self.output_type, (*rows.some(self.match_spec.partition), *measures), self._term(rows))

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Rows that wait, and those of matches that have begun."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type)
        columns = {each.name: row_columns(rows) for each in operator.states}
        return state_meanings(operator, self.metadata, inputs, {"match": self._term(rows)}, columns)

    def _term(self, rows: RowsMeaning) -> Term:
        spec = self.match_spec
        terms = tuple(_reference_term(each, rows) for each in spec.references)
        read = RowsMeaning(rows.type, terms, rows.origin)
        definitions = frozenset(
            said(
                "definition",
                "{variable} as {condition}",
                variable=leaf("variable", each.variable),
                condition=expression_term(each.condition, read),
            )
            for each in spec.definitions
        )
        within = "" if spec.within is None else f" within {spec.within} ms"
        return said(
            "matches",
            "matches of {pattern} in ({input}) by {key} in order of {order} by the time of {watermark}, {definition}",
            pattern=leaf("pattern", f"({' '.join(map(str, spec.pattern))}){within}, {spec.after}"),
            input=rows.rows,
            key=rows.keys(spec.partition),
            order=spec.order_by.terms(rows.columns),
            watermark=rows.time,
            definition=definitions,
        )

    def _operator(self, type: LogicalType) -> MatchOperator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.match.v1_kernel import MatchOperator

        columns, output = (tuple(Column(each.name, each.type) for each in t.fields) for t in (type, self.output_type))
        return MatchOperator(self.uid("match"), self.match_spec, columns, output)


def _reference_term(reference: RowReference, rows: RowsMeaning) -> Term:
    options = f", {sorted(reference.options.items())}" if reference.options else ""
    return said(
        "reference",
        "{function}({variable}: {argument})",
        function=leaf("function", f"{reference.function}, {reference.offset}{options}"),
        variable=leaf("variable", reference.variable),
        argument=rows.some(reference.arg_list) or leaf("rows", "*"),
    )
