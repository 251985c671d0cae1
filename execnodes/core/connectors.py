"""The words in which connectors and formats say what they can do; `execnodes.connectors` has what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.types import LogicalType

NO_METADATA: Mapping[str, LogicalType] = {}
"""Of a connector whose tables cannot have metadata columns."""
Options = Mapping[str, str]
"""WITH options of a table, as the user wrote them: values may be references to secrets."""


class Takes(StrEnum):
    """What a sink or a format can write."""

    INSERTS = "inserts"
    UPSERTS = "upserts"
    """All but -U: the table's rows are found by their key, or nobody looks for them."""
    CHANGES = "changes"


def always(options: Options) -> bool:
    """True, whatever the options are."""
    return True


def at_least(least: int, value: str) -> bool:
    """Whether an option's number is not below `least`; true of a reference, which is known when the source opens."""
    try:
        return int(value) >= least
    except ValueError:
        return True


@dataclass(frozen=True)
class SourceAbilities:
    """What a connector can do as a source."""

    gives: ChangelogMode = INSERT_ONLY
    """Kinds of row that come, unless the format's records carry their own. Others than inserts: in `rk_kind`."""
    bounded: Callable[[Options], bool] = always
    """Whether a table with these options ends by itself."""
    whole: bool = False
    """Whether batch mode can read it even where its stream has no end."""
    again: bool = False
    """Whether it can be read once more from its begin up to a position, so that state can be made from its rows."""
    position_by_path: bool = False
    """Whether a position names the files that were read, by their paths."""
    lookups: Callable[[Options], str | None] | None = None
    """Why rows of a table with these options cannot be looked up by key, None if they can; None: no table's can."""
    filters: bool = False
    """Whether it leaves out rows itself: by PARTITIONED BY columns and, in a `columnar` format, by any column."""
    metadata: Mapping[str, LogicalType] | None = None
    """Types of what metadata columns can read, by key; None: keys are not known before the source opens."""


@dataclass(frozen=True)
class SinkAbilities:
    """What a connector can do as a sink."""

    takes: Takes = Takes.INSERTS
    """Of a table without a primary key. A format whose records carry kinds of row takes all changes in any case."""
    takes_by_key: Takes | None = None
    """Of a table with a primary key, if that is something else."""
    upsert_option: str = ""
    """An option whose value `upsert` says that -U is of no use to the table."""
    overwrites: bool = False
    """Whether it can replace what a table holds (INSERT OVERWRITE)."""
    metadata: Mapping[str, LogicalType] | None = None
    """Types of what metadata columns can write, by key; None: keys are not known before the sink opens."""
    shows: bool = False
    """Whether rows are only shown, so that a NULL in a column that is NOT NULL does no harm."""

    def upserts_by_key(self, options: Options) -> bool:
        """Whether a table with a primary key keeps one row a key, also of a query that only inserts."""
        asked = bool(self.upsert_option) and options.get(self.upsert_option) == "upsert"
        return asked or self.takes_by_key is Takes.UPSERTS

    def of(self, options: Options, has_primary_key: bool) -> Takes:
        """What a table takes, apart from its format."""
        if self.upsert_option and options.get(self.upsert_option) == "upsert":
            return Takes.UPSERTS
        return self.takes_by_key if has_primary_key and self.takes_by_key is not None else self.takes


@dataclass(frozen=True)
class Jar:
    """A jar that neither Spark nor Rekindle brings."""

    artifact: str
    """``group:artifact``, by which Spark's `spark.jars.packages` finds it once it has a version."""
    has: str
    """The full name of a class in it, by which it is known to be there."""


@dataclass(frozen=True)
class ConnectorDeclaration:
    """A connector: what the planner asks of it, and by which name it is found."""

    identifier: str
    """What ``'connector' = '…'`` names."""
    source: SourceAbilities | None = None
    """None if it cannot be read."""
    sink: SinkAbilities | None = None
    """None if it cannot be written."""
    formats: bool = False
    """Whether `format` says how its records are written."""
    keyed: bool = False
    """Whether its records have a key and a value with formats of their own: `key.format`, and `value.format`, which is
    the same as `format`."""
    jars: tuple[Jar, ...] = ()
    """What Spark must have for it."""
    identity: tuple[str, ...] = ()
    """Options that say which data outside of the job a table is: a path, an address, a name there. Another value is
    another table, whatever its name is. Empty where nothing outside is read or written."""


@dataclass(frozen=True)
class FormatDeclaration:
    """A format: which kinds of row its records can tell, and whether it knows what its parts hold."""

    identifier: str
    """What ``'format' = '…'`` names."""
    gives: ChangelogMode = INSERT_ONLY
    takes: Takes = Takes.INSERTS
    columnar: bool = False
    """Whether files say of their parts which values stand in them, so that parts are left out by any column."""
    jars: tuple[Jar, ...] = ()
    """What Spark must have for it."""

    @property
    def changelog(self) -> bool:
        """Whether records carry kinds of row."""
        return not self.gives.insert_only
