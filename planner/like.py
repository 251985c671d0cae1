"""What a table takes over from the table behind LIKE."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import SqlError
from execnodes.core.tables import Column, PrimaryKey, ResolvedTable, WatermarkSpec
from planner import statements as s


@dataclass(frozen=True)
class Inherited:
    """The parts taken over."""

    columns: tuple[Column, ...]
    watermark_specs: tuple[WatermarkSpec, ...]
    primary_key: PrimaryKey | None
    partition_keys: tuple[str, ...]
    options: dict[str, str]


def merge_like(statement: s.CreateTable, base: ResolvedTable, columns: list[Column]) -> Inherited:
    """Parts of `base` that the LIKE clause lets in; SqlError where both tables give the same part."""
    like = statement.like
    assert like is not None
    strategies = {"OPTIONS": "OVERWRITING", **dict(like.options)}

    def strategy(feature: str) -> str:
        return dict(like.options).get(feature, strategies.get("ALL", strategies.get(feature, "INCLUDING")))

    def takes(feature: str, own: bool) -> bool:
        chosen = strategy(feature)
        if chosen == "EXCLUDING":
            return False
        if own and chosen == "INCLUDING":
            raise SqlError(
                f"both tables have {feature.lower()}",
                position=like.position,
                hint=f"Write LIKE … (EXCLUDING {feature}) or (OVERWRITING {feature}).",
            )
        return not own

    schema = base.table_schema
    own_names = {column.name for column in statement.columns}
    excluded = {
        kind
        for kind, feature in (("COMPUTED", "GENERATED"), ("METADATA", "METADATA"))
        if strategy(feature) == "EXCLUDING"
    }
    kept = tuple(
        column.model_copy(update={"data_type": column.data_type.regular()})
        for column in schema.columns
        if column.kind not in excluded and column.name not in own_names
    )
    options = base.options or {}
    if strategy("OPTIONS") == "INCLUDING":
        for key, _ in statement.options:
            if key in options:
                raise SqlError(
                    f"both tables give the option {key!r}", position=like.position, hint="Write OVERWRITING OPTIONS."
                )
    return Inherited(
        kept,
        schema.watermark_specs if takes("WATERMARKS", bool(statement.watermarks)) else (),
        schema.primary_key if takes("CONSTRAINTS", bool(statement.keys)) else None,
        base.partition_keys if takes("PARTITIONS", bool(statement.partitioned_by)) else (),
        {} if strategy("OPTIONS") == "EXCLUDING" else dict(options),
    )
