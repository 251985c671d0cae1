"""Signals: obeyed at once, later, or with a word first."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

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


def twice(context: Callable[[], AbstractContextManager[None]]) -> None:
    with context():
        send(signal.SIGTERM)
        send(signal.SIGTERM)


@pytest.mark.parametrize("context", [deferring, uninterruptible])
def test_twice_ends_the_process(
    context: Callable[[], AbstractContextManager[None]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        twice(context)
    assert caught.value.code == 143
    assert "once more" in capsys.readouterr().err
