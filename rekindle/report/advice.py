"""The commands to run next, by verdict."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from plans.compatibility.compare import Fate, Verdict
from plans.evolution.bootstrap import offered
from rekindle.report.checked import Checked


@dataclass(frozen=True, slots=True)
class Step:
    """What to do, and the commands that do it."""

    text: str
    commands: tuple[str, ...] = ()


def next_steps(found: Checked) -> tuple[Step, ...]:
    """From the running job with the old plan to one with the new plan, in order."""
    new, savepoint = found.new, found.savepoint or "SAVEPOINT"
    before = () if found.savepoint else (command("stop", "JOB", "--savepoint", savepoint),)
    whole = f"{savepoint}-whole" if found.savepoint else "WHOLE"
    start = ("run", "-d", new, "-s", whole if found.bootstrap else savepoint)
    stop: tuple[Step, ...] = (Step("Stop the job and save its state.", before),) if before else ()
    if found.bootstrap:
        make = command("bootstrap", new, *found.bootstrap, "--savepoint", savepoint, "--to", whole)
        stop += (Step("Make the state of the operators from what the sources have given.", (make,)),)
    match found.verdict:
        case Verdict.FULL:
            return (*stop, Step("Start the new plan from the savepoint.", (command(*start),)))
        case Verdict.PARTIAL:
            return (*stop, *_partial(found, start))
        case Verdict.UNKNOWN:
            why = "Look at the states that cannot be judged. If you know that they fit, start the new plan."
            return (*stop, Step(why, (command(*start, *_drops(found, Fate.DROP), *_consent(found)),)))
    return tuple(_incompatible(found, before, start))


def command(*words: str) -> str:
    """A command line of `rekindle`."""
    return shlex.join(("rekindle", *words))


def _offer(found: Checked) -> Iterator[Step]:
    """The way that loses nothing."""
    uids = tuple(offered(found.comparison))
    if uids and not found.bootstrap:
        why = "Can the sources be read once more? Then nothing need be lost: see what becomes of it, and what to run."
        words = [word for uid in uids for word in ("--bootstrap", uid)]
        saved = ("--savepoint", found.savepoint) if found.savepoint else ()
        old = "OLD.json" if found.in_git else found.old
        yield Step(why, (command("check", old, found.new, *saved, *words),))


def _partial(found: Checked, start: tuple[str, ...]) -> Iterator[Step]:
    yield from _offer(found)
    empty = [f"{each.uid}:{each.state}" for each in found.comparison.judgements if each.fate is Fate.EMPTY]
    if empty:
        yield Step(f"Know what begins empty: {', '.join(empty)}.")
    consent = _consent(found)
    if consent:
        why = "Start the new plan, and consent to all that is lost: some states go on, but not whole."
        yield Step(why, (command(*start, *consent),))
        return
    drops = _drops(found, Fate.DROP)
    what = "Start the new plan, giving up what it has no operator for." if drops else "Start the new plan."
    yield Step(what, (command(*start, *drops),))


def _incompatible(found: Checked, before: tuple[str, ...], start: tuple[str, ...]) -> Iterator[Step]:
    old = "OLD.json" if found.in_git else found.old
    shown = [f"git show {shlex.quote(found.old)} > {old}"] if found.in_git else []
    yield Step(
        "Have operators only changed their places? Compile the new SQL from the old plan: "
        "those that mean the same keep their uids, and so their state.",
        (*shown, command("compile", "-f", "NEW.sql", "--from", old, "-o", found.new, "--force")),
    )
    yield from _offer(found)
    yield Step("Or let the new plan begin anew, with all its input.", (command("run", "-d", found.new),))
    drops = _drops(found, Fate.DROP, Fate.INCOMPATIBLE)
    if drops:
        yield Step(
            "Or give up the states that do not fit: they begin empty and see only what comes from then on.",
            (*before, command(*start, *drops, *_consent(found))),
        )


def _consent(found: Checked) -> list[str]:
    """Needed where a state goes on with a loss, which no --allow-drop-state names."""
    lossy = any(each.loss and each.goes_on for each in found.comparison.judgements)
    return ["-D", "table.plan.evolution.consent=allow"] if lossy else []


def _drops(found: Checked, *fates: Fate) -> list[str]:
    judgements = found.comparison.judgements
    gone = [each for each in judgements if each.fate in fates and (each.uid, each.state) in found.before]
    return [word for each in gone for word in ("--allow-drop-state", f"{each.uid}:{each.state}")]
