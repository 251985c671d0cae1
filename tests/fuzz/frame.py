"""Drawing cases, running them under a limit of time, making findings small, keeping them.

A fuzzer is a module of `tests.fuzz` with a `FUZZER`: how a case is drawn as text, and what is done with it. A case that
is refused with a `RekindleError`, or passes, is well. Everything else is a finding: another exception, a `Defect` that
the run raises itself (a damage that was accepted), or more processor time than `slowest`.
"""

from __future__ import annotations

import hashlib
import pkgutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from types import FrameType

from execnodes.core.errors import RekindleError

FINDINGS = Path(__file__).with_name("findings")
_WAITING = 24
"""How many times as long a case may take by the clock, on a busy machine, before it is taken to hang."""
_SHRINKING = 20.0
"""Most seconds spent on making one finding smaller."""


class Defect(Exception):
    """What a run says that should not have been accepted."""


class TooSlow(Defect):
    """A case that takes more processor time than it may."""


def halves(text: str) -> Iterator[str]:
    """The text without a run of lines, or without a run of characters where it has only a few; longest runs first."""
    parts = text.splitlines(keepends=True)
    if len(parts) < 4:
        parts = list(text)
    length = len(parts) // 2
    while length:
        for begin in range(0, len(parts), length):
            yield "".join(parts[:begin] + parts[begin + length :])
        length //= 2


@dataclass(frozen=True)
class Fuzzer:
    """One door and how it is attacked."""

    draw: Callable[[Random], str]
    """A case as text: all that is needed to run it again."""
    run: Callable[[str], None]
    """Passes, raises RekindleError, or has found something."""
    smaller: Callable[[str], Iterator[str]] = halves
    """Candidates for the same finding in less text."""
    quick: int = 300
    """Cases of the short form in the fast suite."""
    slowest: float = 5.0
    """Most seconds of processor time for a case."""


@dataclass(frozen=True)
class Finding:
    """A case that is not well."""

    number: int
    case: str
    what: str


@dataclass
class Outcome:
    """What a hunt has seen."""

    tried: int = 0
    refused: int = 0
    findings: list[Finding] = field(default_factory=list)


def fuzzers() -> dict[str, Fuzzer]:
    """All fuzzers by the names of their modules."""
    package = import_module(__package__)
    modules = {
        each.name: import_module(f"{package.__name__}.{each.name}") for each in pkgutil.iter_modules(package.__path__)
    }
    return {name: module.FUZZER for name, module in modules.items() if hasattr(module, "FUZZER")}


def case(fuzzer: Fuzzer, seed: int, number: int) -> str:
    """The text of one case; the same on every machine."""
    return fuzzer.draw(Random(f"{seed}:{number}"))


def hunt(
    fuzzer: Fuzzer,
    seed: int,
    *,
    count: int | None = None,
    seconds: float | None = None,
    most: int = 10,
    slack: float = 1.0,
) -> Outcome:
    """Run cases 0, 1, 2, … of a seed until there are `count`, or for some seconds, or until `most` findings.

    `slack`: how many times slower than it should be a machine may be.
    """
    outcome, end = Outcome(), None if seconds is None else time.monotonic() + seconds
    kinds: set[str] = set()
    while len(outcome.findings) < most:
        if outcome.tried == count or (end is not None and time.monotonic() > end):
            break
        number, outcome.tried = outcome.tried, outcome.tried + 1
        text = case(fuzzer, seed, number)
        what, refused = attempt(fuzzer, text, slack)
        outcome.refused += refused
        if what is not None and what not in kinds:
            kinds.add(what)
            outcome.findings.append(Finding(number, shrunk(fuzzer, text, what), what))
    return outcome


def hunt_for(name: str, seconds: float, seed: int) -> Outcome:
    """Hunt with one of the fuzzers, e.g. in a process of its own."""
    return hunt(fuzzers()[name], seed, seconds=seconds)


def attempt(fuzzer: Fuzzer, text: str, slack: float = 1.0) -> tuple[str | None, bool]:
    """What is wrong with a case (None: nothing), and whether it was refused."""
    try:
        with _limited(fuzzer.slowest * slack):
            fuzzer.run(text)
    except RekindleError:
        return None, True
    except Exception as error:  # noqa: BLE001  # whatever it is, it is a finding
        return _described(error), False
    return None, False


def shrunk(fuzzer: Fuzzer, text: str, what: str) -> str:
    """A smaller text with the same finding."""
    end = time.monotonic() + _SHRINKING
    again = True
    while again:
        again = False
        for smaller in fuzzer.smaller(text):
            if time.monotonic() > end:
                return text
            if len(smaller) < len(text) and attempt(fuzzer, smaller)[0] == what:
                text, again = smaller, True
                break
    return text


def keep(name: str, finding: Finding) -> Path:
    """Write a finding where the fast suite runs it again."""
    digest = hashlib.sha256(finding.case.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    path = FINDINGS / name / f"{digest}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(finding.case.encode("utf-8", "surrogatepass"))
    return path


def kept(name: str) -> list[str]:
    """Cases that were findings once."""
    paths = sorted((FINDINGS / name).glob("*.txt"))
    return [path.read_bytes().decode("utf-8", "surrogatepass") for path in paths]


def _described(error: Exception) -> str:
    """Kind and place, so that two findings of one cause are one."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None or isinstance(error, Defect):
        return f"{type(error).__name__}: {error}"[:400]
    place = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"
    return f"{type(error).__name__} at {place}: {error}"[:400]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` after so much processor time, or long waiting; only the main thread can be stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds:g} s" if signum == signal.SIGPROF else "it waits for something")

    before = {each: signal.signal(each, stop) for each in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * _WAITING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
