"""One operator's states become those of two: by rows, or by columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from execnodes.core.errors import StateError
from execnodes.core.meaning import HIDDEN
from execnodes.terms.shown import TEXT
from execnodes.terms.term import Term, leaf, said
from rekindle.connectors.duckdb_sql import quoted
from rekindle.savepoints.file_columns import file_columns
from rekindle.savepoints.migrations.rename import check_uid
from rekindle.savepoints.verify import common_key
from rekindle.savepoints.workspace import Draft, Workspace

ROWS = "rows"
SPLIT = "half of the rows"
_SPLIT = re.compile(r"where \((.*)\) IS ((?:NOT )?TRUE)", re.DOTALL)


def split_rows(work: Workspace, uid: str, first: str, second: str, where: str) -> None:
    """Rows for which the SQL condition is TRUE go to `first`, all others to `second`; no key may end up in both.

    The condition is evaluated on each state of the operator. Which rows there are has changed, and the states say so.
    """
    drafts = work.of(uid)
    _check_free(work, uid, (first, second))
    for draft in drafts:
        work.drafts.pop((uid, draft.state.name))
    for draft in drafts:
        parts = []
        for target, half in ((first, "TRUE"), (second, "NOT TRUE")):
            condition = f"({where}) IS {half}"
            rows = said(SPLIT, "where ({condition}) IS {half}", condition=leaf("SQL", where), half=leaf("half", half))
            meant = {**draft.state.parts, rows_label(draft.state.parts): rows}
            state = replace(draft.state, uid=target, parts=meant)
            with work.step("split", draft, f"from {uid} where {condition}") as after:
                after.append(work.write(state, f"SELECT * FROM ({draft.rows}) WHERE {condition}"))
                work.put(after[0])
                parts.append(after[0])
        key = common_key(work.connection, draft.state, parts[0].rows, parts[1].rows)
        if key is not None:
            raise StateError(
                f"rows of the key {key} would be in both operators",
                where=draft.state.title,
                hint="Split by a condition on the key's columns.",
            )


def split_columns(work: Workspace, uid: str, targets: Mapping[str, Sequence[str]]) -> None:
    """Each operator gets the key, the operator's own columns, and those columns or whole states that are named.

    What a column means stays as it is. Every column outside the key must be named, and may be more than once.
    """
    drafts = work.of(uid)
    _check_free(work, uid, tuple(targets))
    known = {name for draft in drafts for name in _own(draft)} | {draft.state.name for draft in drafts}
    wanted = {name for names in targets.values() for name in names}
    left = [name for draft in drafts if draft.state.name not in wanted for name in _own(draft) if name not in wanted]
    if unknown := sorted(wanted - known):
        raise StateError(
            f"the operator has no column {', '.join(unknown)}", where=uid, hint=f"Columns: {', '.join(sorted(known))}"
        )
    if left:
        raise StateError(f"no operator would get {', '.join(left)}", where=uid, hint="Name every column once or more.")
    for draft in drafts:
        work.drafts.pop((uid, draft.state.name))
    for draft in drafts:
        for target, names in targets.items():
            kept = list(_columns(draft, names))
            if not kept:
                continue
            with work.step("split", draft, f"from {uid}: {', '.join(kept)}") as after:
                after.append(_picked(work, draft, target, kept))
                work.put(after[0])


def rows_label(parts: Mapping[str, Term]) -> str:
    """Label of a part that says which of the rows there are; another split of them adds another one."""
    count = sum(label.startswith(ROWS) for label in parts)
    return f"{ROWS} {count + 1}" if count else ROWS


def half_of(term: Term) -> tuple[str, str] | None:
    """The condition that a split was by, and which of its rows these are; None for other rows."""
    if term.kind == SPLIT:
        return term["condition"][0].says, term["half"][0].says
    # Format 1 of savepoints has but the text.
    match = _SPLIT.fullmatch(term.says) if term.kind == TEXT else None
    return (match[1], match[2]) if match else None


def _own(draft: Draft) -> Iterator[str]:
    """Columns that a split may part."""
    return (name for name, _ in draft.state.schema if name not in draft.state.key and not name.startswith(HIDDEN))


def _columns(draft: Draft, names: Sequence[str]) -> Iterator[str]:
    """Columns of a state that an operator gets; none if it does not get the state."""
    state, own = draft.state, list(_own(draft))
    if state.name in names:
        yield from (name for name, _ in state.schema)
    elif any(name in names for name in own):
        yield from (name for name, _ in state.schema if name not in own or name in names)


def _picked(work: Workspace, draft: Draft, uid: str, kept: Sequence[str]) -> Draft:
    state = draft.state
    columns = [(pair, text) for pair, text in zip(state.schema, state.meanings, strict=True) if pair[0] in kept]
    picked = replace(
        state, uid=uid, schema=tuple(pair for pair, _ in columns), meanings=tuple(text for _, text in columns)
    )
    return work.write(picked, f"SELECT {', '.join(map(quoted, file_columns(picked)))} FROM ({draft.rows})")


def _check_free(work: Workspace, uid: str, targets: Sequence[str]) -> None:
    """The new uids must be two, and nobody's; one may be the old one."""
    for each in targets:
        check_uid(each)
        if each != uid and any(other == each for other, _ in work.drafts):
            raise StateError(f"there is an operator {each} already", hint="Give a new uid.")
    if len(set(targets)) != len(targets) or len(targets) < 2:
        raise StateError("a split needs two different uids", where=uid)
