"""State that is made from what the sources have given: what becomes of an upgrade where operators get theirs so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from execnodes.connectors import find_connector
from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import StateMeaning
from execnodes.core.tables import TableReference
from plans.compatibility.counterparts import Address, counterparts
from plans.compatibility.fates import Comparison, Fate, Judgement
from plans.compatibility.judge import by_time
from plans.compatibility.plan_meanings import POSITION
from plans.format.node_tables import tables_of

_MADE = "it is made from its sources: rekindle bootstrap"


def bootstrapped(
    comparison: Comparison, uids: Iterable[str], before: Sequence[StateMeaning], after: Sequence[StateMeaning]
) -> Comparison:
    """The comparison, if the states of some operators are made anew; PlanError for operators that keep their state."""
    wanted = frozenset(uids)
    possible = makeable(comparison)
    unknown = sorted(wanted - set(possible))
    if unknown:
        hint = f"It can be made for {', '.join(possible)}." if possible else "All operators have their state."
        raise PlanError(f"{', '.join(unknown)} is no operator whose state would have to be made", hint=hint)
    gone = replaced(comparison, wanted, before, after)
    meanings = {(each.uid, each.name): each for each in after}
    begun = frozenset(each.uid for each in comparison.judgements if each.state == POSITION and each.goes_on)

    def settled(each: Judgement) -> Judgement:
        if each.uid in wanted and each.fate is not Fate.DROP:
            return _made(each, meanings[each.uid, each.state], begun)
        if (each.uid, each.state) in gone:
            return replace(
                each, reason=f"what takes its place is made from its sources: {gone[each.uid, each.state]}", loss=False
            )
        return each

    return replace(comparison, judgements=tuple(map(settled, comparison.judgements)))


def makeable(comparison: Comparison) -> tuple[str, ...]:
    """Uids of operators of the new plan that do not go on whole."""
    states = (each for each in comparison.judgements if each.state != POSITION and each.fate is not Fate.DROP)
    return tuple(dict.fromkeys(each.uid for each in states if not each.goes_on or each.loss or each.unsure))


def replaced(
    comparison: Comparison, uids: frozenset[str], before: Sequence[StateMeaning], after: Sequence[StateMeaning]
) -> dict[Address, str]:
    """Dropped states and positions that nobody misses, as other operators' states are made; with those uids."""
    dropped = {(each.uid, each.state) for each in comparison.judgements if each.fate is Fate.DROP}
    places = {old[0]: new[0] for new, old in counterparts(comparison, before, after).items() if new[0] in uids}
    places |= {uid: uid for uid in uids}
    found = {address: places[address[0]] for address in dropped if address[0] in places}
    for uid, name in dropped:
        seen = [(each.uid, each.name) for each in before if name == POSITION != each.name and uid in each.sources]
        if seen and all(each in found for each in seen):
            found[uid, name] = found[seen[0]]
    return found


def _made(judgement: Judgement, meaning: StateMeaning, begun: frozenset[str]) -> Judgement:
    """Judged as if it had been there all along; rows of a source that begins now may still come too late."""
    reason = _MADE if judgement.goes_on else f"the old plan has no such state; {_MADE}"
    late = ", ".join(sorted(meaning.sources - begun)) if by_time(meaning) else ""
    if late:
        reason += f"; but {late} begins now, and rows of it behind the savepoint's watermark are late"
    return Judgement(judgement.uid, judgement.state, Fate.EMPTY, reason, loss=bool(late))


def unmakeable(graph: ExecGraph, states: Iterable[StateMeaning]) -> frozenset[str]:
    """Uids of operators whose state cannot be made: a source below them cannot be read once more."""
    sources = (node for node in graph.nodes if "source" in node.metadata.produced_operators)
    once = {node.uid("source") for node in sources if any(_read_once(each) for each in tables_of(node))}
    return frozenset(each.uid for each in states if each.sources & once)


def _read_once(table: TableReference) -> bool:
    resolved = table.resolved_table
    if resolved is None or resolved.options is None:
        return False  # nobody knows before it runs
    connector = find_connector(resolved.options.get("connector", ""))
    return connector is not None and connector.source is not None and not connector.source.again


def offered(comparison: Comparison) -> Iterator[str]:
    """Uids of operators that lose something, whose state could be made instead."""
    lossy = {each.uid for each in comparison.judgements if each.loss or each.unsure or each.fate is Fate.INCOMPATIBLE}
    yield from (uid for uid in makeable(comparison) if uid in lossy - comparison.unmakeable)
