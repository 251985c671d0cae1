"""docs/upgrading.md is what its rules say, and each rule has a test that is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from docs.upgrading_page import PAGE, inserted, rules

ROOT = PAGE.parent.parent
_LINK = re.compile(r"\]\(([^)#]+\.(?:md|py))?(?:#([a-z0-9-]+))?\)")


def test_the_page_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert inserted(page) == page, "run make goldens"


def test_every_rule_stands_in_the_page_once() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [rule.change for rule in rules() if page.count(f"\n| {rule.change} | {rule.outcome} |") != 1] == []


def test_every_rule_has_tests_that_are_collected() -> None:
    named = sorted({test for rule in rules() for test in rule.tests})
    assert all(rule.tests for rule in rules())
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", *named]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    collected = done.stdout.splitlines()
    assert [name for name in named if not any(line.startswith(name) for line in collected)] == []


def test_links_lead_to_headings_and_files() -> None:
    for file, anchor in _LINK.findall(PAGE.read_text(encoding="utf-8")):
        target = Path(PAGE.parent, file) if file else PAGE
        assert target.is_file(), file
        titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in [re.sub(r"[^a-z0-9 -]", "", each.lower()).replace(" ", "-") for each in titles]
