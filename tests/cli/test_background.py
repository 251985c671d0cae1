"""Jobs beside the statements of a session."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import typer

from execnodes.core.errors import StateError
from rekindle.cli import background
from rekindle.jobs.status import State
from tests.jobs.fake import Fake, running


def jobs(*fakes: Fake) -> list[Any]:
    return list(fakes)


def test_news_are_told_once(tmp_path: Path) -> None:
    with running(tmp_path / "a") as (good, _), running(tmp_path / "b") as (bad, _):
        told: set[str] = set()
        assert list(background.news(jobs(good, bad), told)) == []
        assert background.running(jobs(good, bad)) == jobs(good, bad)
        good.end(None)
        bad.end(StateError("broken", hint="Mend it."))
        assert list(background.news(jobs(good, bad), told)) == [
            f"[{good.job_id[:8]} fake: FINISHED]",
            f"[{bad.job_id[:8]} fake: FAILED]",
            "error: broken",
            "  hint: Mend it.",
        ]
        assert list(background.news(jobs(good, bad), told)) == []
        assert background.running(jobs(good, bad)) == []


def test_jobs_are_stopped_and_can_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(tmp_path / "a") as (fake, _):
        background.stop(jobs(fake))
        assert fake.status.state is State.STOPPED
    shown = capsys.readouterr().err
    assert "Stopping 1 job after the current micro-batch." in shown
    assert f"Go on with: rekindle run {tmp_path}/a/plan.json --job-dir {tmp_path}/a" in shown


def test_waiting_raises_the_first_failure_when_all_have_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path / "a") as (bad, _), running(tmp_path / "b") as (good, _):
        bad.end(StateError("broken"))
        later = threading.Timer(0.2, good.end, [None])
        later.start()
        with pytest.raises(StateError, match="broken"):
            background.wait_for(jobs(bad, good))
        later.join()
        assert good.status.state is State.FINISHED
    assert f"{good.job_id[:8]} fake: finished, 7 rows in 2 micro-batches\n" in capsys.readouterr().err


def test_a_signal_while_waiting_stops_the_jobs(tmp_path: Path) -> None:
    with running(tmp_path / "a") as (fake, _):
        later = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGTERM])
        later.start()
        with pytest.raises(typer.Exit) as caught:
            background.wait_for(jobs(fake))
        later.join()
        assert caught.value.exit_code == 143
        assert fake.status.state is State.STOPPED
