"""What a release had stays as it was; what came and went stands in the release log."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from packaging.version import Version

from execnodes.core.registry import lookup
from execnodes.core.version import RELEASE
from execnodes.functions.registry import functions
from releases import FOLDER, Release, releases
from releases.log import LOG, NodeLine, node_lines, sections
from releases.make import build, keep, refusal
from tests.completeness.frozen import current
from tests.completeness.tree import KEYS

TEXT = LOG.read_text(encoding="utf-8")
LINES = tuple(node_lines(TEXT))
ALL = releases()


def changed(release: Release, now: dict[str, dict[str, object]], dropped: set[str]) -> list[str]:
    """Node versions of a release that are not what they were, or are gone without having been dropped."""
    lost = [key for key in release.nodes if key not in now and key not in dropped]
    other = []
    for key, then in release.nodes.items():
        if key in now:
            states = now[key]["states"]
            assert isinstance(states, dict)
            kept = all(states.get(program) == layout for program, layout in then["states"].items())
            other += [] if now[key]["json"] == then["json"] and kept else [key]
    return [*lost, *other]


@pytest.mark.parametrize("release", ALL, ids=lambda each: each.version)
def test_the_wheel_is_the_one_that_was_released(release: Release) -> None:
    assert release.path.parent.name == release.version
    assert f"-{release.version}-" in release.wheel
    assert hashlib.sha256(release.path.read_bytes()).hexdigest() == release.sha256


@pytest.mark.parametrize("release", ALL, ids=lambda each: each.version)
def test_what_was_released_stays(release: Release) -> None:
    assert changed(release, current(), {each.key for each in LINES if not each.new}) == []


@pytest.mark.parametrize("break_it", ["json", "states", "gone"])
def test_a_change_of_what_was_released_is_seen(break_it: str) -> None:
    nodes = {"stream-exec-a_1": {"json": "x", "states": {"a_1/p": "y"}}}
    release = Release("1.0.0", "c", "d", "w", "s", nodes)
    now: dict[str, dict[str, object]] = {"stream-exec-a_1": {"json": "x", "states": {"a_1/p": "y", "a_1/q": "z"}}}
    assert changed(release, now, set()) == []
    if break_it == "gone":
        now = {}
        assert changed(release, now, {"stream-exec-a_1"}) == []
    else:
        now["stream-exec-a_1"][break_it] = "z" if break_it == "json" else {"a_1/p": "z"}
    assert changed(release, now, set()) == ["stream-exec-a_1"]


def test_every_release_and_the_one_to_come_has_its_lines() -> None:
    found = [Version(each) for each in sections(TEXT)]
    assert found == sorted(found, reverse=True)
    assert {each.version for each in ALL} <= {str(each) for each in found}
    assert {str(each) for each in found} <= {*(each.version for each in ALL), Version(RELEASE).base_version}


def test_node_versions_stand_in_the_log_where_they_came_and_went() -> None:
    came = {line.key: line for line in LINES if line.new}
    went = {line.key: line for line in LINES if not line.new}
    assert len(LINES) == len(came) + len(went), "a node version comes once and goes once"
    assert set(came) == {str(key) for key in KEYS} | set(went)
    for key in KEYS:
        metadata = next(each for each in lookup(key).METADATA if each.key == key)
        assert (metadata.min_plan_version, metadata.min_state_version) == (came[str(key)].plan, came[str(key)].state)
    for release in ALL:
        here = set(release.nodes)
        assert {key for key, line in came.items() if _by(line, release)} - {
            key for key, line in went.items() if _by(line, release)
        } == here
    assert all(line.why for line in went.values()), "say what is used instead"


def _by(line: NodeLine, release: Release) -> bool:
    return Version(line.release) <= Version(release.version)


def test_versions_of_functions_stand_in_the_log() -> None:
    for function in functions().values():
        if function.version > 1:
            lines = [line for each in sections(TEXT) if each.startswith(f"{function.since}.") for line in _lines(each)]
            assert any(f"`{function.internal_name}` new: " in line for line in lines), function.internal_name


def _lines(release: str) -> list[str]:
    return sections(TEXT)[release]


@pytest.mark.parametrize(
    "line", ["something", "- `stream-exec-a_1` changed", "- `stream-exec-a_1` new", "- `batch-exec-a_1` dropped in 1.2"]
)
def test_odd_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"release 1\.0\.0"):
        list(node_lines(f"# Log\n\n## 1.0.0\n{line}\n"))


def test_the_lines() -> None:
    text = "# Log\n\n## 1.1.0\n- `stream-exec-a_1` dropped: see `a_2`\n- Option.\n\n## 1.0.0\n"
    text += "- `stream-exec-a_1` new (plan 1.0, state 1.0)\n"
    assert list(node_lines(text)) == [
        NodeLine("1.1.0", "stream-exec-a_1", False, why="see `a_2`"),
        NodeLine("1.0.0", "stream-exec-a_1", True, "1.0", "1.0"),
    ]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a package of one file."""
    root = tmp_path / "repository"
    (root / "small").mkdir(parents=True)
    (root / "small" / "__init__.py").write_text('"""Small."""\n')
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling==1.33.0"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "small"\nversion = "1.0.0"\nrequires-python = ">=3.11"\n'
    )
    _git(root, "init", "--quiet")
    _git(root, "add", ".")
    _git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "All")
    return root


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def test_what_no_release_is_made_of(repository: Path) -> None:
    assert refusal(repository, "1.0.0", "1.0.0") == ""
    assert "the sources say they are 1.0.0.dev0, not 1.0.0" in refusal(repository, "1.0.0", "1.0.0.dev0")
    (repository / "small" / "more.py").write_text("")
    assert "not committed:\n?? small/more.py" in refusal(repository, "1.0.0", "1.0.0")
    (repository / "releases" / "1.0.0").mkdir(parents=True)
    assert "release 1.0.0 is there already" in refusal(repository, "1.0.0", "1.0.0")


def test_no_release_is_made_with_unstable_tests(repository: Path) -> None:
    (repository / "tests").mkdir()
    (repository / "tests" / "unstable.txt").write_text("tests/a.py::test_b\n")
    assert "take them out of the list\ntests/a.py::test_b" in refusal(repository, "1.0.0", "1.0.0")


@pytest.mark.long
def test_a_wheel_is_what_git_has(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitignore").write_text("")
    (repository / "small" / "more.py").write_text("")
    made = keep(repository, tmp_path / "made", "1.0.0", {})
    again = keep(repository, tmp_path / "again", "1.0.0", {})
    assert made == again
    assert made.wheel == "small-1.0.0-py3-none-any.whl"
    assert made.commit == _git(repository, "rev-parse", "HEAD").strip()
    names = subprocess.run(["python", "-m", "zipfile", "-l", tmp_path / "made" / made.wheel], capture_output=True)
    assert b"small/__init__.py" in names.stdout
    assert b"more.py" not in names.stdout


@pytest.mark.long
@pytest.mark.parametrize("release", ALL, ids=lambda each: each.version)
def test_a_release_can_be_built_again(release: Release, tmp_path: Path) -> None:
    root = FOLDER.parent
    time = _git(root, "log", "-1", "--format=%ct", release.commit).strip()
    wheel = build(root, release.commit, int(time), tmp_path)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == release.sha256
