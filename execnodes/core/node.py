"""The base of all nodes: the part of a node's JSON that every node has, and the uid of its operators."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self
from typing import Literal as Tag

from pydantic import BaseModel, ConfigDict, PrivateAttr, field_validator
from pydantic import Field as Property
from pydantic.alias_generators import to_camel

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import PlanError
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.metadata import ExecNodeMetadata, NodeKey
from execnodes.core.options import find
from execnodes.core.places import Place
from execnodes.core.types import LogicalType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execnodes.core.meaning import RowsMeaning, StateMeaning
    from execnodes.core.outputs import Applied, Outputs
    from execnodes.core.windowing import WindowSpec
    from execnodes.lowering.stream import Lowering, Rows

DEFAULT_UID_FORMAT = "<id>_<operator>"
UID_FORMAT = "table.exec.uid.format"
MAX_ID = 2**31 - 1


class PlanModel(BaseModel):
    """Anything inside a plan: immutable, camelCase in JSON, unknown properties refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)

    def scope(self, name: str, around: Scope) -> Scope:
        """What a property of it refers to, if that is not what its surroundings refer to."""
        return around


class Distribution(PlanModel):
    """How rows must be spread before they enter an input."""

    type: Tag["ANY", "HASH", "SINGLETON"]
    keys: tuple[ColumnIndex, ...] = ()
    """Input columns that decide where a row goes; only with HASH."""


class InputProperty(PlanModel):
    """What a node asks of one of its inputs."""

    required_distribution: Distribution = Distribution(type="ANY")


class StateMetadata(PlanModel):
    """A piece of state of a node; the TTL may be edited in the plan."""

    index: int
    """Which input it belongs to, from 0."""
    ttl: str = "0 ms"
    """How long an entry is kept after it was written last, e.g. ``4 d``; ``0 ms`` keeps it for ever."""
    name: str


class ExecNode(PlanModel):
    """A node of a compiled plan: its declared fields are its JSON, and nothing else is."""

    METADATA: ClassVar[tuple[ExecNodeMetadata, ...]] = ()
    INPUTS: ClassVar[range] = range(1, 2)
    """How many inputs it can have."""

    id: int
    """Unique in the plan; operator uids begin with it."""
    type: str = Property(default="", validate_default=True)
    """``<name>_<version>``; a planner leaves it out and gets the newest version its class serves."""
    configuration: dict[str, str] = Property(default_factory=dict)
    """Values of the consumed options at compile time; they win over the session's at run time."""
    state: tuple[StateMetadata, ...] = ()
    input_properties: tuple[InputProperty, ...] = ()
    output_type: LogicalType
    """A ROW: names and types of the output columns."""
    changelog_mode: ChangelogMode = INSERT_ONLY
    """Kinds of row this node emits."""
    description: str
    """What explain and the UI show; stored, so that it stays the same after an upgrade."""
    _place: Place | None = PrivateAttr(None)

    @field_validator("id", mode="after")
    @classmethod
    def _id_in_range(cls, id: int) -> int:
        # Not in the JSON Schema, which is part of what was released.
        if not 0 <= id <= MAX_ID:
            raise ValueError(f"a node id is a whole number from 0 to {MAX_ID}")
        return id

    @field_validator("type", mode="after")
    @classmethod
    def _newest_type(cls, type: str) -> str:
        return str(cls.newest().key) if not type and cls.METADATA else type

    @classmethod
    def newest(cls) -> ExecNodeMetadata:
        """The annotation of the newest version this class serves."""
        return cls.METADATA[-1]

    @property
    def key(self) -> NodeKey:
        """Name and version of this node."""
        return NodeKey.parse(self.type) if self.type else self.newest().key

    @property
    def metadata(self) -> ExecNodeMetadata:
        """The annotation this node was made under."""
        return next(each for each in self.METADATA if each.key == self.key)

    @property
    def place(self) -> Place | None:
        """Where the SQL has what the node stands for, of nodes that can fail; stands beside the nodes in a plan."""
        return self._place

    def put(self, place: Place | None) -> Self:
        """Say where the SQL has it; a node that was just made, and that nobody else holds."""
        self._place = place
        return self

    def uid(self, operator: str) -> str:
        """The address of one operator's state: ``13_upsert-materializer``, or as `table.exec.uid.format` says."""
        if operator not in self.metadata.produced_operators:
            raise ValueError(f"{type(self).__name__} declares no operator {operator!r}")
        return self._address(operator)

    def provider_uid(self, name: str) -> str:
        """The address of what the connector of a source or sink keeps of its own: ``13_provider_preprocessor-1``."""
        return self._address(f"provider_{name}")

    def _address(self, operator: str) -> str:
        pattern = self.configuration.get(UID_FORMAT, DEFAULT_UID_FORMAT)
        values = {
            "<id>": str(self.id),
            "<type>": self.key.name,
            "<version>": str(self.key.version),
            "<operator>": operator,
        }
        for name, value in values.items():
            pattern = pattern.replace(name, value)
        return pattern

    def option(self, key: str) -> str:
        """The value in force of an option, which the plan may have under an older name; its default if it has none."""
        known = find(key)
        stored = (self.configuration[name] for name in (key, *known.fallback_keys) if name in self.configuration)
        return next(stored, known.default)

    def uids(self) -> tuple[str, ...]:
        """Uids of the operators that keep state in this very plan; none for a stateless node."""
        return ()

    def addresses(self) -> tuple[str, ...]:
        """Uids under which a savepoint has something of the node: its state, or how far a source has been read."""
        reads = "source" in self.metadata.produced_operators and UID_FORMAT in self.metadata.consumed_options
        return (*self.uids(), *((self.uid("source"),) if reads else ()))

    @property
    def needs_every_change(self) -> bool:
        """Whether its result depends on changes that cancel out inside a micro-batch.

        The runtime then takes the rows of the whole pipeline one by one, as Flink does, which is slow.
        """
        return False

    @property
    def has_watermarks(self) -> bool:
        """Whether its rows have watermarks even if those of its inputs have none."""
        return False

    @property
    def clocked(self) -> WindowSpec | None:
        """The windows whose ends it waits for by processing time: the watermark of its pipeline is the clock then."""
        return None

    @property
    def takes_unknown_deletes(self) -> bool:
        """Whether it may be told of the end of rows it has never seen."""
        return False

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Output columns that are event time, from those of each input; none unless the node says so.

        Types do not tell: a projection over a join keeps them (tests/planner/test_event_times.py compares with SQL).
        """
        return frozenset()

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """Of each input, the columns by whose event time the node goes: a row with a NULL there fails the job.

        None where it goes by none, or says what becomes of such rows (tests/completeness/test_event_times.py).
        """
        return ()

    def state_ttl(self, index: int = 0) -> str:
        """TTL of a state by index."""
        return next((each.ttl for each in self.state if each.index == index), "0 ms")

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """What makes its rows and the types of their columns, to be compared with `output_type`, from its properties.

        Several where there are rows of several kinds, none where they are compared elsewhere. By default rows pass.
        """
        for number, each in enumerate(inputs):
            yield f"its input {number} gives", [field.type for field in each.fields]

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its aggregate and window functions, to be compared with what these take and give."""
        return iter(())

    @abstractmethod
    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Say how this node runs: columns of its output over those of its inputs."""

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """What its rows are. By default all properties of its own decide, and all that its inputs mean."""
        from execnodes.core.meaning import RowsMeaning
        from execnodes.terms.term import leaf, said

        own = self.model_dump(mode="json", by_alias=True, exclude=set(ExecNode.model_fields) - {"configuration"})
        origin = said(
            "operator",
            "{operator} {properties} of [{input}]",
            operator=leaf("operator", str(self.key)),
            properties=leaf("properties", json.dumps(own, sort_keys=True, ensure_ascii=False)),
            input=[
                said("input", "{rows} [{column}] {time}", rows=each.rows, column=each.columns, time=each.time)
                for each in inputs
            ],
        ).shortened()
        columns = tuple(
            said("output", f"#{at} of {self.key.name}", at=leaf("number", str(at)), of=origin)
            for at in range(len(self.output_type.fields))
        )
        sources = frozenset(uid for each in inputs for uid in each.sources)
        return RowsMeaning(self.output_type, columns, origin, time=origin, sources=sources)

    def meaning_of_rest(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning | None:
        """What its rows are where only these of its inputs are there; None if it is nothing without the others."""
        return None

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """What the states that savepoints hold of its operators mean; each node with `uids` says it.

        Imports the operator, but starts nothing.
        """
        if self.uids():
            raise NotImplementedError(f"{type(self).__name__} does not say what its state means")
        return ()

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Check the node against the output types of its inputs; PlanError if they do not fit."""

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """The JSON of a node of the version before as that of this one, `type` apart: the second step of an upgrade.

        By default nothing has changed. A version with other properties, options or names says what becomes of the old
        ones, so that rows and state stay what they were: a new property gets the value that the old version acted by.
        It also takes the JSON of versions that no longer exist; ``old["type"]`` tells which it is.
        """
        return old

    def fail(self, message: str, hint: str | None = None) -> PlanError:
        """A PlanError that names this node."""
        return PlanError(message, where=f"node {self.id} ({self.key})", hint=hint)

    def replaced(self, **changes: object) -> Self:
        """A copy with some fields changed."""
        return self.model_copy(update=changes)
