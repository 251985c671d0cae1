"""Signals: obeyed at once, later, or with a word first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from rekindle.cli import signals
from rekindle.cli.signals import Interrupted, check, checking, deferring, exit_code, uninterruptible


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


def checked(number: signal.Signals, reached: list[str]) -> None:
    with checking():
        check()
        send(number)
        reached.append("behind the signal")
        check()
        reached.append("not this")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_at_the_next_check(number: signal.Signals, code: int) -> None:
    before, reached = signal.getsignal(number), list[str]()
    with pytest.raises(KeyboardInterrupt) as caught:
        checked(number, reached)
    assert exit_code(caught.value) == code
    assert reached == ["behind the signal"]
    assert signal.getsignal(number) is before
    check()


def test_a_plain_interrupt() -> None:
    assert exit_code(KeyboardInterrupt()) == 130


def deferred(number: signal.Signals, reached: list[str], *, obeyed: bool) -> None:
    with deferring():
        send(number)
        reached.append("behind the signal")
        if obeyed:
            with checking():
                check()
                reached.append("not this")


@pytest.mark.parametrize("obeyed", [True, False])
def test_later(capsys: pytest.CaptureFixture[str], obeyed: bool) -> None:
    reached: list[str] = []
    with pytest.raises(Interrupted) as caught:
        deferred(signal.SIGTERM, reached, obeyed=obeyed)
    assert caught.value.exit_code == 143
    assert reached == ["behind the signal"]
    assert "once more to end at once" in capsys.readouterr().err
    with deferring(), checking():
        reached.append("nothing is left over")
    assert len(reached) == 2


@pytest.fixture(autouse=True)
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Codes with which the process would have ended at last."""
    codes: list[int] = []
    monkeypatch.setattr(signals, "_exit", codes.append)
    monkeypatch.setattr(signals, "_UNWINDS", 0.05)
    monkeypatch.setattr(signals, "_waiting", [])
    return codes


def twice(context: Callable[[], AbstractContextManager[None]]) -> None:
    with context():
        send(signal.SIGTERM)
        send(signal.SIGTERM)


@pytest.mark.parametrize("context", [deferring, checking])
def test_twice_ends_the_process(context: Callable[[], AbstractContextManager[None]], exits: list[int]) -> None:
    with pytest.raises(SystemExit) as caught:
        twice(context)
    assert caught.value.code == 143
    assert within_a_second(lambda: exits == [143]), "whatever waits while it unwinds"


def within_a_second(check: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 1
    while not check() and time.monotonic() < deadline:
        time.sleep(0.05)
    return check()


def stopping() -> None:
    with checking():
        send(signal.SIGTERM)
        check()


def test_a_signal_amid_a_stop_ends_the_process(exits: list[int]) -> None:
    with pytest.raises(Interrupted):
        stopping()
    with pytest.raises(SystemExit) as caught, uninterruptible():
        send(signal.SIGINT)
    assert caught.value.code == 130
    assert within_a_second(lambda: exits == [130])


HANGS = """
import atexit, os, signal, sys, time
sys.path.insert(0, {path!r})
from rekindle.cli import signals
signals._UNWINDS = 0.2
atexit.register(time.sleep, 60)
with signals.uninterruptible():
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_process_that_hangs_ends_at_the_second_signal() -> None:
    """Here at its end, where nothing of Python gets on any more."""
    began = time.monotonic()
    root = str(Path(signals.__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", HANGS.format(path=root)], check=False, timeout=50)
    assert done.returncode == 143
    assert time.monotonic() - began < 40
