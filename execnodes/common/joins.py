"""What joins in time share: the checks of their keys and conditions, and what their condition means."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import input_indexes
from execnodes.core.join_spec import JoinSpec
from execnodes.core.meaning import RowsMeaning, expression_term
from execnodes.core.node import ExecNode
from execnodes.core.predicates import supported
from execnodes.core.types import TEXTS, LogicalType, Root
from execnodes.terms.term import Term, leaf, said


def check_join(node: ExecNode, spec: JoinSpec, inputs: tuple[LogicalType, ...]) -> None:
    """PlanError unless keys exist and are pairwise of one type, the operator can evaluate the rest of the condition,
    and the output has the columns of both inputs, or of the left one.
    """
    left, right = inputs
    if not len(spec.left_keys) == len(spec.right_keys) == len(spec.filter_nulls):
        raise node.fail("leftKeys, rightKeys and filterNulls of the join differ in length")
    for side, keys in ((left, spec.left_keys), (right, spec.right_keys)):
        if any(not 0 <= key < len(side.fields) for key in keys):
            raise node.fail(f"join keys {keys} are not all columns of its input, which has {len(side.fields)}")
    for a, b in zip(spec.left_keys, spec.right_keys, strict=True):
        mine, its = left.fields[a], right.fields[b]
        if not _hash_alike(mine.type, its.type):
            raise node.fail(
                f"join keys {mine.name} {mine.type} and {its.name} {its.type} differ in type",
                "CAST one of them to the type of the other.",
            )
    width = len(left.fields) + len(right.fields)
    if spec.non_equi_condition is not None:
        if max(input_indexes(spec.non_equi_condition), default=-1) >= width:
            raise node.fail(f"the condition of the join reads columns its inputs, {width} in all, do not have")
        if not supported(spec.non_equi_condition):
            raise node.fail(
                "the condition of the join holds an expression that cannot be evaluated inside it",
                "Compute the expression in a subquery below the join, as a column of its own.",
            )
    expected = width if spec.pairs else len(left.fields)
    if len(node.output_type.fields) != expected:
        raise node.fail(f"its output has {len(node.output_type.fields)} columns instead of {expected}")


def _hash_alike(left: LogicalType, right: LogicalType) -> bool:
    """Whether equal values of both types are equal, and hash alike, inside kernels."""
    if left.root in TEXTS and right.root in TEXTS:
        return True
    if left.root is Root.DECIMAL and right.root is Root.DECIMAL:
        return left.scale == right.scale and (left.precision > 18) == (right.precision > 18)
    return left.root == right.root and left.children == right.children and left.fields == right.fields


def condition_terms(spec: JoinSpec, left: RowsMeaning, right: RowsMeaning) -> frozenset[Term]:
    """What must hold of two rows; constants and order of the parts aside."""
    pairs = zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True)
    found = {
        said(
            "pair",
            "{left} {comparison} {right}",
            left=left.columns[a],
            comparison=leaf("comparison", "=" if strict else "IS NOT DISTINCT FROM"),
            right=right.columns[b],
        )
        for a, b, strict in pairs
    }
    if spec.non_equi_condition is not None:
        both = replace(left, columns=(*side_columns("left", left), *side_columns("right", right)))
        found.add(expression_term(spec.non_equi_condition, both))
    return frozenset(found)


def side_columns(side: str, rows: RowsMeaning) -> tuple[Term, ...]:
    """Columns with the side that they come from, since both sides may read one table."""
    return tuple(said(side, f"{side}.{{column}}", column=each) for each in rows.columns)
