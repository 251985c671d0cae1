"""How lowering makes nodes: the newest version of each, by a constructor whose types are checked."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Literal
from execnodes.core.options import Configuration
from execnodes.core.types import BOOLEAN, row
from execnodes.stream.calc import Calc
from execnodes.stream.exchange import Exchange
from planner import algebra
from planner.algebra import Filter, Logical, Rank, Sink, Values
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW, Context, lower_node
from tests.completeness.tree import imports, module_name, sources

TRUE = Literal(value=True, type=BOOLEAN)
VALUES = Values((), row())


@pytest.mark.parametrize("path", sources("planner"), ids=module_name)
def test_the_planner_names_no_version_of_a_node(path: Path) -> None:
    """It takes what the folder of a node exports, which is the newest version (tests/completeness/test_keys.py)."""
    nodes = [name for name in imports(path) if re.match(r"execnodes\.(stream|batch)\.", name)]
    assert [name for name in nodes if name.count(".") > 2] == []


@pytest.mark.parametrize("path", sources("planner"), ids=module_name)
def test_nodes_are_imported_where_they_are_made(path: Path) -> None:
    """All node classes together take half a second to import; a statement needs a few of them."""
    at_once = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and re.match(r"execnodes\.(stream|batch)\b", node.module or "")
    ]
    assert at_once == []


def test_wrong_fields_are_type_errors() -> None:
    """`mypy --strict` fails for an ignore that ignores nothing, so each of these is a type error."""
    with pytest.raises(ValidationError):
        Exchange(id=NEW, output_type=row(), description="", keys=(0,))  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Calc(id=NEW, output_type=row(), description="")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Calc(id=NEW, output_type=row(), description="", projection="c0")  # type: ignore[arg-type]


_OPERATORS = [
    each
    for _, each in inspect.getmembers(algebra, inspect.isclass)
    if issubclass(each, Logical) and each not in (Logical, Sink) and not inspect.isabstract(each)
]


@pytest.mark.parametrize("operator", _OPERATORS, ids=lambda each: each.__name__)
def test_every_operator_has_a_lowering(operator: type[Logical]) -> None:
    """In one mode at least: some are only made for one by its rules. Sinks are where lowering begins."""
    found = [(each.dispatch(operator), each.dispatch(object)) for each in (lower_node, lower_batch_node)]
    assert any(own is not refusal for own, refusal in found)


def test_an_operator_without_a_lowering_is_refused() -> None:
    with pytest.raises(SqlError, match="Rank is not supported in streams yet") as refused:
        lower_node.dispatch(object)(Rank(VALUES, (), (), "RANK", 1, 1, row()), Context(Configuration()), True)
    assert "'batch'" in (refused.value.hint or "")
    with pytest.raises(SqlError, match="Filter is not supported in batch mode yet"):
        lower_batch_node.dispatch(object)(Filter(VALUES, TRUE), BatchContext(Configuration()))
