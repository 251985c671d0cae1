"""Programs in pieces and micro-batches: every line is there once, in order, whatever the bounds."""

from __future__ import annotations

import pytest

from rekindle.testing.cut import MicroBatches, cut_program
from tests.conformance.matrix import SUPPORTED


@pytest.mark.parametrize("count", [2, 5])
def test_a_program_has_as_many_pieces_as_it_is_cut_in(count: int) -> None:
    (program,) = (each for each in SUPPORTED if each.name == "join/full")
    pieces = cut_program(program, count)
    assert pieces is not None
    with pieces:
        assert pieces.count == count


def test_micro_batches_hold_every_line_once() -> None:
    (program,) = (each for each in SUPPORTED if each.name == "window/tumble")
    lines = (program.folder / "input" / "ticks.jsonl").read_bytes().splitlines()
    for micro_batches in (MicroBatches(1), MicroBatches(2), MicroBatches(None)):
        for count in (1, 3):
            pieces = cut_program(program, count, micro_batches)
            assert pieces is not None
            with pieces:
                for number in range(1, count):
                    pieces.place(number)
                files = sorted((pieces.folder / "input" / "ticks.jsonl").iterdir())
                found = [line for each in files for line in each.read_bytes().splitlines()]
                assert found == lines
                assert sorted(files, key=lambda each: each.stat().st_mtime_ns) == files
                assert len(files) >= (len(lines) if micro_batches.seed is None else 2)
