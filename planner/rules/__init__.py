"""Rewrites of the logical plan; each is pure and lies in the module of its name.

They run in phases: *normalise* brings what SQL can write in many ways into one form, *recognise* finds the operators
that such a form stands for, *push* moves work to where it costs least, *prune* leaves out what nobody reads. A rule
that runs again says why: what came before has made new work for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from execnodes.core.options import Configuration
from planner.algebra.tree import Sinks
from planner.rules.answer_empty_aggregates import answer_empty_aggregates
from planner.rules.drop_unread_windows import drop_unread_windows
from planner.rules.drop_watermarks import drop_watermarks
from planner.rules.expand_grouping_sets import expand_grouping_sets
from planner.rules.expand_set_operations import expand_set_operations
from planner.rules.form_window_aggregates import form_window_aggregates
from planner.rules.merge_projects import merge_projects
from planner.rules.open_sessions_behind_sets import open_sessions_behind_sets
from planner.rules.order_joins import order_joins
from planner.rules.prune_columns import prune_columns
from planner.rules.push_filters import push_filters
from planner.rules.push_into_inputs import push_into_inputs
from planner.rules.push_join_expressions import push_join_expressions
from planner.rules.read_through_projects import read_through_projects
from planner.rules.recognise_deduplication import recognise_deduplication
from planner.rules.recognise_lookup_joins import recognise_lookup_joins
from planner.rules.recognise_rank_columns import recognise_rank_columns
from planner.rules.recognise_ranks import recognise_ranks
from planner.rules.reject_interval_joins import reject_interval_joins
from planner.rules.reject_temporal_joins import reject_temporal_joins
from planner.rules.reject_texts_as_keys import reject_texts_as_keys
from planner.rules.split_distinct_aggregates import split_distinct_aggregates
from planner.rules.split_join_conditions import split_join_conditions

Rule = Callable[[Sinks], Sinks]
ConfiguredRule = Callable[[Sinks, Configuration], Sinks]
"""A rule that options turn on, or tell how far to go."""


@dataclass(frozen=True)
class Run:
    """A rule at its place."""

    rule: Rule
    why: str
    """What it does there, and which rules have to have run before."""

    def under(self, configuration: Configuration) -> Rule:
        """The rule: it asks for no option."""
        return self.rule


@dataclass(frozen=True)
class ConfiguredRun:
    """A rule that reads options, at its place."""

    rule: ConfiguredRule
    why: str
    """As in `Run`."""

    def under(self, configuration: Configuration) -> Rule:
        """The rule as these options have it."""
        rule = self.rule

        @wraps(rule)
        def configured(sinks: Sinks) -> Sinks:
            return rule(sinks, configuration)

        return configured


@dataclass(frozen=True)
class Phase:
    """Rules that work towards one thing."""

    name: str
    runs: tuple[Run | ConfiguredRun, ...]


PHASES: tuple[Phase, ...] = (
    Phase(
        "normalise",
        (
            Run(expand_set_operations, "all set operations are UNION ALL, joins and aggregates"),
            Run(merge_projects, "nested SELECTs are one projection and one filter"),
            Run(drop_unread_windows, "a projection has taken in those below it: merge_projects"),
            Run(push_filters, "conditions stand at what they speak of: one on a row number right above its OVER"),
            Run(reject_texts_as_keys, "needs conditions in the join: push_filters"),
            Run(answer_empty_aggregates, "conditions on one row stand together: push_filters"),
        ),
    ),
    Phase(
        "recognise",
        (
            Run(recognise_deduplication, "needs conditions right above OVER: merge_projects, push_filters"),
            Run(recognise_ranks, "behind recognise_deduplication, which is a Top-1 that needs less"),
            Run(recognise_rank_columns, "behind recognise_ranks: a constant bound needs no state"),
            Run(push_filters, "conditions that stood above a row number can go below the deduplication"),
            Run(expand_set_operations, "unions that a filter held apart are one"),
            Run(merge_projects, "the row number of a deduplication is a constant"),
            Run(recognise_lookup_joins, "needs conditions in the join: push_filters"),
            Run(reject_interval_joins, "needs conditions in the join: push_filters"),
            Run(read_through_projects, "an aggregate stands right above the window it groups by"),
            Run(form_window_aggregates, "needs the window right below: read_through_projects"),
            Run(expand_grouping_sets, "behind form_window_aggregates, whose aggregates have grouping sets too"),
            Run(open_sessions_behind_sets, "behind expand_grouping_sets: sessions are found among the copies"),
        ),
    ),
    Phase(
        "push",
        (
            Run(push_filters, "conditions go through what was recognised"),
            Run(merge_projects, "what grouping sets have left above aggregates"),
            Run(push_join_expressions, "needs conditions in the join: push_filters"),
            Run(reject_temporal_joins, "needs equalities of columns: push_join_expressions"),
            Run(split_join_conditions, "behind push_join_expressions: what is no equality of columns is left"),
            Run(merge_projects, "what the two have put below and above joins"),
            Run(read_through_projects, "aggregates over joins read the join's columns"),
        ),
    ),
    Phase(
        "prune",
        (
            Run(prune_columns, "last of those that change columns"),
            ConfiguredRun(split_distinct_aggregates, "behind prune_columns: only calls that somebody reads are split"),
            Run(merge_projects, "projections that only dropped columns, and those with buckets"),
            Run(push_into_inputs, "behind all others: what a source filters itself can no longer be moved"),
        ),
    ),
)
"""Those of streams."""

BATCH_PHASES: tuple[Phase, ...] = (
    Phase(
        "normalise",
        (
            Run(drop_watermarks, "a condition may then move below them"),
            Run(expand_set_operations, "all set operations are UNION ALL, joins and aggregates"),
            Run(merge_projects, "nested SELECTs are one projection and one filter"),
            Run(drop_unread_windows, "a projection has taken in those below it: merge_projects"),
            Run(push_filters, "conditions stand at what they speak of: one on a row number right above its OVER"),
            Run(reject_texts_as_keys, "needs conditions in the join: push_filters"),
        ),
    ),
    Phase(
        "recognise",
        (
            Run(recognise_lookup_joins, "needs conditions in the join: push_filters; before order_joins moves it"),
            Run(recognise_ranks, "needs conditions right above OVER: merge_projects, push_filters"),
            Run(push_filters, "conditions that stood above a rank can go below it"),
            Run(expand_set_operations, "unions that a filter held apart are one"),
            Run(expand_grouping_sets, "an aggregate has one set of keys"),
        ),
    ),
    Phase(
        "push",
        (
            Run(merge_projects, "what grouping sets have left above aggregates"),
            Run(push_join_expressions, "needs conditions in the join: push_filters"),
            Run(merge_projects, "what it has put below joins"),
            Run(order_joins, "needs equalities of columns: push_join_expressions"),
            Run(push_filters, "conditions meet the joins in their new order"),
            Run(merge_projects, "order_joins restores the order of columns"),
            Run(read_through_projects, "aggregates over joins read the join's columns"),
        ),
    ),
    Phase(
        "prune",
        (
            Run(prune_columns, "last of those that change columns"),
            Run(merge_projects, "projections that only dropped columns"),
        ),
    ),
)
"""Those of batch mode: rows have no order and no watermark, and the conditions of joins may be anything."""


def rules(phases: tuple[Phase, ...], configuration: Configuration | None = None) -> tuple[Rule, ...]:
    """All rules in the order in which they run, as these options have them."""
    options = configuration or Configuration()
    return tuple(run.under(options) for phase in phases for run in phase.runs)
