"""Another plan in the savepoint: states are judged as `rekindle check` does, and converted to that plan's columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateMeaning
from plans.compatibility.compare import Comparison, Fate, Judgement, Verdict, compare
from plans.compatibility.plan_meanings import POSITION, meanings
from rekindle.connectors.duckdb_sql import quoted
from rekindle.savepoints.file_columns import BUCKET, WRITTEN, column_types, distinct_names, duckdb_type, file_columns
from rekindle.savepoints.manifest import SavedState, Step
from rekindle.savepoints.widen import WIDER, wider, with_wider
from rekindle.savepoints.workspace import Draft, Workspace


class PlanRefused(StateError):
    """The states do not all go on in the plan."""

    def __init__(self, verdict: Verdict, problems: list[str], hint: str) -> None:
        super().__init__("the states do not fit the plan:\n  " + "\n  ".join(problems), hint=hint)
        self.verdict = verdict


def adopt(work: Workspace, plan: str, *, allow_non_restored_state: bool = False) -> None:
    """Put a plan into the savepoint; PlanRefused unless every state goes on, or what does not may be lost.

    States whose meaning is accepted are taken to mean what the plan says; their columns are found by name.
    """
    unknown = sorted(work.accept - {each.state.title for each in work.drafts.values()})
    if unknown:
        raise StateError(f"the savepoint has no state {', '.join(unknown)} whose meaning could be accepted")
    accepted = {
        address: work.described(each.state) for address, each in work.drafts.items() if each.state.title in work.accept
    }
    for address, planned in accepted.items():
        _check_columns(work.drafts[address].state, planned)
    told = {address: each.meaning for address, each in accepted.items()}
    old = [told.get((each.uid, each.name), each) for each in work.meanings]
    states = meanings(work.graph)
    found, new = compare(old, states), {(each.uid, each.name): each for each in states}
    _refuse(found, allow_non_restored_state)
    before, work.drafts = work.drafts, {}
    for each in found.judgements:
        if each.state == POSITION:
            _carry_on(work, each, new)
            continue
        draft = before.get((each.uid, each.was or each.state))
        if each.taken_over and draft is not None:
            _leave(work, draft, each)
        else:
            _carry_out(work, draft, each, accepted)
    work.plan = plan


def _check_columns(state: SavedState, planned: SavedState) -> None:
    have = dict(state.schema)
    problems = [f"column {name} {t}: {have.get(name, 'missing')}" for name, t in planned.schema if have.get(name) != t]
    if planned.bucketed and not state.bucketed:
        problems.append(f"column {BUCKET}: missing")
    if problems:
        raise StateError(
            f"the rows lack columns of the plan's state: {'; '.join(problems)}",
            where=state.title,
            hint="Make them with --transform or --import.",
        )


def _refuse(found: Comparison, allow_lost: bool) -> None:
    wrong = [
        each
        for each in found.judgements
        if each.fate is Fate.INCOMPATIBLE or each.unsure or (each.loss and not allow_lost)
    ]
    if not wrong:
        return
    hints = []
    if any(each.fate is Fate.INCOMPATIBLE or each.goes_on for each in wrong):
        hints.append("If the rows are what the plan says, accept their meaning with --accept-meaning UID:NAME.")
    if any(each.loss for each in wrong):
        hints.append("Let states be lost, or begin empty, with --allow-non-restored-state.")
    raise PlanRefused(
        found.verdict, [f"{each.uid}:{each.state} {each.fate}: {each.reason}" for each in wrong], " ".join(hints)
    )


def _carry_on(work: Workspace, judged: Judgement, new: Mapping[tuple[str, str], StateMeaning]) -> None:
    """A source; one without a position begins at its beginning."""
    if judged.fate is Fate.DROP:
        work.positions.pop(judged.uid, None)
        work.sources.pop(judged.uid, None)
    else:
        work.sources[judged.uid] = dict(new[judged.uid, POSITION].parts)
    if not judged.goes_on:
        work.note(Step(str(judged.fate), judged.uid, POSITION, 0, 0, judged.reason))


def _leave(work: Workspace, draft: Draft, judged: Judgement) -> None:
    """A state that its operator will take over when a job starts stays what it is, once for all that comes of it."""
    if (draft.state.uid, draft.state.name) not in work.drafts:
        with work.step("keep", draft, judged.reason) as after:
            after.append(draft)
            work.put(draft)


def _carry_out(
    work: Workspace, draft: Draft | None, judged: Judgement, accepted: Mapping[tuple[str, str], SavedState]
) -> None:
    """A state, and the old one that it comes from, if there is one."""
    address = (judged.uid, judged.state)
    if draft is None or not (judged.goes_on or judged.fate is Fate.DROP):
        work.note(Step(str(judged.fate), *address, 0, 0, judged.reason))
    elif judged.fate is Fate.DROP:
        with work.step("drop", draft, judged.reason):
            pass
    else:
        reason = "meaning accepted" if address in accepted else judged.reason
        with work.step(str(judged.fate), draft, reason) as after:
            after.append(_converted(work, draft, work.planned[address], judged.columns))
            work.put(after[0])


def _converted(work: Workspace, draft: Draft, planned: SavedState, columns: Mapping[str, str]) -> Draft:
    """The rows with the plan's columns; files stay where nothing differs."""
    state = replace(planned, rows=draft.state.rows)
    retyped = wider(draft.state, column_types(state), columns)
    if retyped:
        file = work.stage()
        draft = Draft(with_wider(draft.state, draft.files, retyped, file), (file,))
        columns = {name: f"{WIDER}{name}" if f"{WIDER}{name}" in retyped else there for name, there in columns.items()}
    wanted, there = file_columns(state), file_columns(draft.state)
    origin = {**{name: columns.get(name, "") for name in wanted}, BUCKET: BUCKET, WRITTEN: WRITTEN}
    if list(wanted) == list(there) and all(origin[name] == name for name in wanted):
        return Draft(state, draft.files)
    shown = dict(zip(there, distinct_names(there), strict=True))
    cells = []
    for (name, t), alias in zip(wanted.items(), distinct_names(wanted), strict=True):
        # What the savepoint lacks starts empty.
        there_is = origin[name] in shown
        value = quoted(shown[origin[name]]) if there_is else f"CAST(NULL AS {duckdb_type(t)})"
        cells.append(f"{value} AS {quoted(alias)}")
    return work.write(state, f"SELECT {', '.join(cells)} FROM ({draft.rows})")
