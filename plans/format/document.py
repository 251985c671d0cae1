"""The file of a compiled plan as a data model: everything but the nodes, which are read by their own classes."""

from __future__ import annotations

from typing import Any
from typing import Literal as Tag

from pydantic import Field as Property

from execnodes.core.node import PlanModel
from plans.format.places import PlaceOfCall

SCHEMA_PREFIX = "urn:rekindle:schema:plan-"
"""A plan names its JSON Schema by this and its engine version; the schema lies in ``plans/format/schema/``."""
MAX_PARALLELISM = 32768
"""Most key groups there can be."""


class Shuffle(PlanModel):
    """How rows go along an edge; always FORWARD, because an exchange is a node of its own."""

    type: Tag["FORWARD"] = "FORWARD"


class Edge(PlanModel):
    """Who feeds whom. The order of a node's inputs is the order of its edges."""

    source: int
    """Id of the node that gives the rows."""
    target: int
    """Id of the node that takes them."""
    shuffle: Shuffle = Shuffle()
    shuffle_mode: Tag["PIPELINED"] = "PIPELINED"


class PlanDocument(PlanModel):
    """A compiled plan as it lies in a file; the fields stand in the order of the file."""

    # "schema" with a dollar is not a name in Python, hence the alias.
    schema_id: str = Property(alias="$schema")
    engine_version: str
    """Release that compiled the plan; read before anything else."""
    max_parallelism: int = Property(ge=1, le=MAX_PARALLELISM)
    """Number of key groups of every stateful operator."""
    last_node_id: int | None = None
    """Largest id ever given in this plan and those it evolved from, where no node has it any longer: no id, and so no
    uid, is given twice."""
    configuration: dict[str, str] = Property(default={})
    """Options of the job, as defaults for the session that runs the plan; since 1.5."""
    table_aliases: dict[str, str] = Property(default={})
    """Dotted names of tables to those that plans before this one had for them; since 1.5. States mean them by these."""
    nodes: tuple[dict[str, Any], ...]
    """Inputs before consumers; each is read by the class its `type` names."""
    edges: tuple[Edge, ...]
    places: tuple[PlaceOfCall, ...] = ()
    """Where the SQL has what can fail, for errors; what the plan means does not depend on it."""


def schema_id(engine_version: str) -> str:
    """What `$schema` says in a plan of that release."""
    return SCHEMA_PREFIX + engine_version
