"""Where the tables of two plans lie, outside of Rekindle: what a change of place does to rows, and what has moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from execnodes.connectors import physical_identity, position_names_files
from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.secrets import masked
from execnodes.core.tables import TableReference
from plans.compatibility.fates import Comparison
from plans.compatibility.plan_meanings import POSITION, known_name
from plans.format.node_tables import tables_of

Moves = Mapping[str, str]
"""Names of tables, or places (values of options), to those of today: the user says that they are the same."""
Place = Mapping[str, str]
"""Options that say where a table's data is."""


@dataclass(frozen=True, slots=True)
class PlaceNote:
    """What a change of place does."""

    text: str
    loss: bool
    """Rows are counted twice, or are missing."""


def with_places(found: Comparison, old: ExecGraph | None, new: ExecGraph | None, moves: Moves) -> Comparison:
    """The comparison with a note for each table whose data lies elsewhere now; tables without options say nothing."""
    if old is None or new is None:
        return found
    kept = {each.uid for each in found.judgements if each.state == POSITION and each.goes_on}
    notes = [*_source_notes(old, new, moves, kept), *_sink_notes(old, new, moves, begun=bool(kept))]
    losses = tuple(each.text for each in notes if each.loss)
    return replace(found, notes=(*found.notes, *(each.text for each in notes)), place_losses=losses)


def moved_sinks(old: ExecGraph, new: ExecGraph) -> frozenset[str]:
    """Names of sinks that both plans have, and whose data lies elsewhere now."""
    before, after = _sinks(old), _sinks(new)
    return frozenset(name for name in before.keys() & after.keys() if _differences(before[name], after[name]))


def with_moved_names(old: ExecGraph, new: ExecGraph, moves: Moves) -> ExecGraph:
    """The new plan, which knows by which names the old one knew its tables; PlanError for moves that nothing has."""
    names, was = _names(new), _names(old)
    inherited = {name: old.table_aliases[name] for name in names if name in old.table_aliases}
    aliases = {**inherited, **new.table_aliases}
    places = {value for graph in (old, new) for place in _places(graph) for value in place.values()}
    for before, after in moves.items():
        one, other = _named(before, was), _named(after, names)
        if one is not None and other is not None:
            aliases[other] = old.table_aliases.get(one, one)
        elif not {_normalized(before), _normalized(after)} <= places:
            raise PlanError(
                f"{before}={after} names neither a table of the old plan and one of the new plan, nor their places",
                where="--map",
                hint=f"Tables of the old plan: {', '.join(sorted(was))}; of the new plan: {', '.join(sorted(names))}.",
            )
    return replace(new, table_aliases=aliases)


def _source_notes(old: ExecGraph, new: ExecGraph, moves: Moves, kept: Collection[str]) -> Iterator[PlaceNote]:
    before, after = _sources(old), _sources(new)
    for uid, (name, place) in after.items():
        if uid in kept and uid in before:
            changed = _differences(before[uid][1], place)
            if changed:
                by_path = position_names_files(place)
                yield _moved_source(name, changed, is_move=_is_move(changed, moves), by_path=by_path)
            continue
        twin = next((was for other, (was, at) in before.items() if other not in kept and at and at == place), None)
        if twin is not None and known_name(old, twin) != known_name(new, name):
            yield PlaceNote(
                f"source {name} reads the data that {twin} read, but from its beginning: if it is the same table under "
                f"another name, compile with --map {twin}={name}",
                loss=False,
            )


def _moved_source(name: str, changed: str, *, is_move: bool, by_path: bool) -> PlaceNote:
    if is_move:
        files = "; its position names files: move it with rekindle migrate --move-files OLD=NEW" if by_path else ""
        return PlaceNote(f"source {name} has moved ({changed}), and is read on from where it was{files}", loss=False)
    return PlaceNote(
        f"source {name} lies elsewhere ({changed}), and its position is that of the old place: rows that are in both "
        "are counted twice, and rows that were not read at the old place are missing; if the data has moved, give "
        "--map OLD=NEW with the two places",
        loss=True,
    )


def _sink_notes(old: ExecGraph, new: ExecGraph, moves: Moves, *, begun: bool) -> Iterator[PlaceNote]:
    before, after = _sinks(old), _sinks(new)
    for name, place in after.items():
        changed = _differences(before.get(name, {}), place)
        if not changed or {*before[name], *place} == {"connector"}:
            # Neither keeps its rows where a table could be read.
            continue
        shown = _shown_name(new, name)
        if _is_move(changed, moves):
            yield PlaceNote(f"sink {shown} has moved ({changed}) with what it holds", loss=False)
        else:
            if set(place) == {"connector"}:
                yield PlaceNote(f"sink {shown} keeps no rows now ({changed}): the old place stays as it is", loss=False)
                continue
            advice = (
                ""
                if "connector" in changed.keys
                else "; if its rows were moved, give --map OLD=NEW with the two places"
            )
            yield PlaceNote(
                f"sink {shown} lies elsewhere ({changed}): the new place gets what changes from now on, and nothing "
                f"of what was before; the old one stays as it is{advice}",
                loss=begun,
            )


class _Changes(str):
    """Text of what differs, with the options and their pairs of values."""

    keys: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def _differences(old: Place, new: Place) -> _Changes:
    """``path: a -> b``; empty where the places are the same, or one of them is not known."""
    if not old or not new:
        return _Changes()
    keys = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    found = _Changes(
        masked("; ".join(f"{key}: {old.get(key, 'not set')} -> {new.get(key, 'not set')}" for key in keys))
    )
    found.keys = tuple(keys)
    found.pairs = tuple((old.get(key, ""), new.get(key, "")) for key in keys)
    return found


def _is_move(changed: _Changes, moves: Moves) -> bool:
    wanted = {(_normalized(before), _normalized(after)) for before, after in moves.items()}
    return bool(changed.pairs) and all(pair in wanted for pair in changed.pairs)


def _normalized(text: str) -> str:
    return physical_identity({"connector": "filesystem", "path": text}).get("path", text)


def _sources(graph: ExecGraph) -> dict[str, tuple[str, Place]]:
    """Uid to the name of its table and its place."""
    return {
        uid: (table.name, _place(table))
        for node in graph.nodes
        if not graph.inputs[node.id]
        for table in tables_of(node)
        for uid in node.addresses()
    }


def _sinks(graph: ExecGraph) -> dict[str, Place]:
    """Name that both plans know to the place."""
    return {
        known_name(graph, table.name): _place(table) or _connector(table)
        for node in graph.roots()
        for table in tables_of(node)
        if table.identifier
    }


def _shown_name(graph: ExecGraph, known: str) -> str:
    return next((name for name, alias in graph.table_aliases.items() if alias == known), known)


def _place(table: TableReference) -> Place:
    resolved = table.resolved_table
    options = {} if resolved is None else resolved.options or {}
    return physical_identity({**options, **table.hints})


def _connector(table: TableReference) -> Place:
    """Of a table that has no place."""
    resolved = table.resolved_table
    found = ({} if resolved is None else resolved.options or {}).get("connector")
    return {} if found is None else {"connector": found}


def _places(graph: ExecGraph) -> Iterator[Place]:
    return (_place(table) for node in graph.nodes for table in tables_of(node))


def _names(graph: ExecGraph) -> frozenset[str]:
    return frozenset(table.name for node in graph.nodes for table in tables_of(node) if table.identifier)


def _named(text: str, names: Collection[str]) -> str | None:
    """The table that a text names, in full or by its last parts."""
    found = [name for name in names if name == text or name.endswith(f".{text}")]
    return found[0] if len(found) == 1 else None
