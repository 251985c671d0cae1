"""Rewrites of the logical plan, in the order in which they run; each is pure and lies in the module of its name."""

from __future__ import annotations

from collections.abc import Callable

from planner.rules.drop_watermarks import drop_watermarks
from planner.rules.expand_grouping_sets import expand_grouping_sets
from planner.rules.expand_set_operations import expand_set_operations
from planner.rules.form_window_aggregates import form_window_aggregates
from planner.rules.merge_projects import merge_projects
from planner.rules.order_joins import order_joins
from planner.rules.prune_columns import prune_columns
from planner.rules.push_filters import push_filters
from planner.rules.push_into_inputs import push_into_inputs
from planner.rules.push_join_expressions import push_join_expressions
from planner.rules.read_through_projects import read_through_projects
from planner.rules.recognise_deduplication import recognise_deduplication
from planner.rules.recognise_interval_joins import recognise_interval_joins
from planner.rules.recognise_ranks import recognise_ranks
from planner.rules.split_join_conditions import split_join_conditions
from planner.tree import Sinks

Rule = Callable[[Sinks], Sinks]

RULES: tuple[Rule, ...] = (
    expand_set_operations,
    merge_projects,
    push_filters,
    recognise_deduplication,
    push_filters,
    expand_set_operations,  # unions that a filter held apart
    merge_projects,
    recognise_interval_joins,
    read_through_projects,
    form_window_aggregates,
    expand_grouping_sets,
    push_filters,
    merge_projects,
    push_join_expressions,
    split_join_conditions,
    merge_projects,
    read_through_projects,
    prune_columns,
    merge_projects,
    push_into_inputs,
)

BATCH_RULES: tuple[Rule, ...] = (
    drop_watermarks,
    expand_set_operations,
    merge_projects,
    push_filters,
    recognise_ranks,
    push_filters,
    expand_set_operations,
    expand_grouping_sets,
    merge_projects,
    push_join_expressions,
    merge_projects,
    order_joins,
    push_filters,
    merge_projects,
    read_through_projects,
    prune_columns,
    merge_projects,
)
"""Those of batch mode: rows have no order and no watermark, and the conditions of joins may be anything."""
