"""Relational operators, in Calcite's terms; each says what the planner may ask of it (`planner.algebra.relation`).

From the sources to the sinks: Scan, Values, CompiledQuery, WatermarkAssigner, Normalize; Filter, Project, Expand,
Unnest; SetOperation, Join, LookupJoin; Aggregate, SplitAggregate, WindowTableFunction, WindowAggregate; Over, Rank,
Deduplicate, Match, Sort; Sink.
SQL text makes most of them; CompiledQuery comes from plans, and Normalize, Expand, LookupJoin, SplitAggregate,
WindowAggregate, Rank and Deduplicate from rules.
"""

from planner.algebra.aggregate import Aggregate
from planner.algebra.compiled_query import CompiledQuery
from planner.algebra.deduplicate import Deduplicate
from planner.algebra.expand import Expand
from planner.algebra.filter import Filter
from planner.algebra.join import Join, JoinType
from planner.algebra.lookup_join import LookupJoin
from planner.algebra.match import Match
from planner.algebra.normalize import Normalize
from planner.algebra.over import Over, OverCall, SortKey
from planner.algebra.project import Project
from planner.algebra.rank import Rank
from planner.algebra.relation import Logical
from planner.algebra.scan import Scan
from planner.algebra.set_operation import SetKind, SetOperation
from planner.algebra.sink import Sink
from planner.algebra.sort import Sort
from planner.algebra.split_aggregate import SplitAggregate
from planner.algebra.unnest import Unnest
from planner.algebra.values import Values
from planner.algebra.watermark_assigner import WatermarkAssigner
from planner.algebra.window_aggregate import WindowAggregate
from planner.algebra.window_table_function import WindowTableFunction
from planner.algebra.windows import Window, WindowColumn, WindowProperty

__all__ = [
    "Aggregate",
    "CompiledQuery",
    "Deduplicate",
    "Expand",
    "Filter",
    "Join",
    "JoinType",
    "Logical",
    "LookupJoin",
    "Match",
    "Normalize",
    "Over",
    "OverCall",
    "Project",
    "Rank",
    "Scan",
    "SetKind",
    "SetOperation",
    "Sink",
    "Sort",
    "SortKey",
    "SplitAggregate",
    "Unnest",
    "Values",
    "WatermarkAssigner",
    "Window",
    "WindowAggregate",
    "WindowColumn",
    "WindowProperty",
    "WindowTableFunction",
]
