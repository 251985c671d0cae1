"""What only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rekindle.files.atomic_file import make_private, private_folder, write_atomically


@pytest.fixture(autouse=True, params=[0o022, 0o077, 0o000])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_files_and_folders_are_the_owners(tmp_path: Path, umask: int) -> None:
    private_folder(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700
    private_folder(tmp_path / "a")
    assert mode(tmp_path / "a") == 0o777 & ~umask, "it was there"
    write_atomically(tmp_path / "private", "x", replace=False, private=True)
    write_atomically(tmp_path / ("n" * 250), "x", replace=False)
    assert mode(tmp_path / "private") == 0o600
    assert mode(tmp_path / ("n" * 250)) == 0o666 & ~umask
    make_private(tmp_path / ("n" * 250))
    assert mode(tmp_path / ("n" * 250)) == 0o600
