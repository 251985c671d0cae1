"""Query evolution: a statement compiled from an old plan, and the consent to what is lost by it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from execnodes.core.errors import OptionError, PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import CONSENT
from plans.compatibility.compare import Comparison, Verdict
from plans.compatibility.restore import CatalogLookup, resolve_tables
from plans.evolution.bootstrap import bootstrapped, offered, unmakeable
from plans.evolution.evolve import Evolution, evolve
from rekindle.results.compiled_plan import CompiledPlan

if TYPE_CHECKING:
    from execnodes.core.options import Configuration

_log = logging.getLogger("rekindle.plans")
BOOTSTRAP = "table.plan.evolution.bootstrap"
MAP = "table.plan.evolution.map"
Approve = Callable[[Comparison], bool]
"""Asks somebody whether a plan may be made although state is lost."""


class EvolutionError(PlanError):
    """A new query does not get the state of the old one, and nobody has consented to that."""

    def __init__(self, message: str, comparison: Comparison, *, where: str, hint: str) -> None:
        """`comparison` tells what is lost; `where` is the old plan."""
        super().__init__(message, where=where, hint=hint)
        self.comparison = comparison
        self.exit_code = comparison.verdict.exit_code


@dataclass(frozen=True, slots=True)
class Origin:
    """The plan a statement is compiled from, and how."""

    plan: CompiledPlan
    approve: Approve | None = None
    """Asked where the option says so; None: nobody is there."""


def evolved(graph: ExecGraph, origin: Origin, catalog: CatalogLookup, configuration: Configuration) -> Evolution:
    """A newly compiled graph with the ids of the old plan; EvolutionError for losses without consent."""
    found = evolve(
        _known(origin.plan.graph, catalog),
        graph,
        keep_ttl="table.exec.state.ttl" not in configuration,
        keep_parallelism="pipeline.max-parallelism" not in configuration,
        moves=parse_moves(configuration.get_option(MAP)),
    )
    found = replace(found, comparison=replace(found.comparison, unmakeable=unmakeable(found.graph, found.after)))
    uids = [each.strip() for each in configuration.get_option(BOOTSTRAP).split(",") if each.strip()]
    if uids:
        found = replace(found, comparison=bootstrapped(found.comparison, uids, found.before, found.after))
    require_consent(found.comparison, origin, configuration.get_option(CONSENT))
    return found


def require_consent(comparison: Comparison, origin: Origin, policy: str) -> None:
    """Nothing if all is kept or what is lost is consented to; else EvolutionError that names each loss."""
    verdict = comparison.verdict
    if verdict is Verdict.FULL:
        return
    where, listed = origin.plan.source, "\n  ".join(lines(comparison))
    if verdict is Verdict.INCOMPATIBLE:
        raise EvolutionError(
            f"the new query cannot go on with the state of the old one:\n  {listed}",
            comparison,
            where=where,
            hint=f"{_offer(comparison)}change the query less, or compile it without FROM and start it without the "
            "savepoint.",
        )
    asked = policy == "await_approval" and origin.approve is not None and origin.approve(comparison)
    if policy == "allow" or asked:
        return
    what = "some state cannot be judged" if verdict is Verdict.UNKNOWN else "some state would be lost"
    if verdict is Verdict.PARTIAL and not comparison.losses:
        what = "some rows would be missing or counted twice"
    rejected = f"{CONSENT} is reject. " if policy == "reject" else ""
    raise EvolutionError(
        f"{what}, and nobody has consented to that:\n  {listed}",
        comparison,
        where=where,
        hint=f"{rejected}{_offer(comparison)}to consent: SET '{CONSENT}' = 'allow', or rekindle compile --consent "
        "allow; then say so again where the plan is started from a savepoint.",
    )


def _offer(comparison: Comparison) -> str:
    """The way that loses nothing, where there is one."""
    options = " ".join(f"--bootstrap {uid}" for uid in offered(comparison))
    way = f"Let state be made from the sources (rekindle compile {options}, then rekindle bootstrap); or "
    return way if options else ""


def parse_moves(text: str) -> dict[str, str]:
    """``old=new`` texts, separated by commas; OptionError for others."""
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    for before, sign, after in pairs:
        if not sign or not before.strip() or not after.strip():
            hint = "Write OLD=NEW: two names of a table, or two places of its data."
            raise OptionError(f"{MAP}: {before + sign + after!r} is not a value of this option", hint=hint)
    return {before.strip(): after.strip() for before, _, after in pairs}


def lines(comparison: Comparison) -> Iterator[str]:
    """What is lost, cannot be, or cannot be judged: a line each."""
    for each in comparison.judgements:
        if each.loss or each.unsure or not (each.goes_on or each.fate in ("empty", "drop")):
            yield f"{each.fate}: {each.title}: {each.reason}"
    yield from comparison.place_losses


def _known(graph: ExecGraph, catalog: CatalogLookup) -> ExecGraph:
    """With the tables that the old plan knows by name only; as it is, if the catalog has others now."""
    try:
        return resolve_tables(graph, catalog, enrich=False)
    except PlanError as error:
        _log.warning("tables of the old plan are compared by what it says of them: %s", error.message)
        return graph
