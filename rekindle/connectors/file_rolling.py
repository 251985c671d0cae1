"""When rows of a file sink that compacts its files are shown, and which files become one: Flink's options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

from execnodes.core.options import Kind, parse_size
from rekindle.connectors.held_files import HeldFile, HeldPartition
from rekindle.connectors.options import TableOption, TableOptions

COMPACTION = "auto-compaction"
TARGET = "compaction.file-size"
ROLLING = "sink.rolling-policy."
_SIZE = f"{ROLLING}file-size"
_ROLLOVER = f"{ROLLING}rollover-interval"
_INACTIVITY = f"{ROLLING}inactivity-interval"
_ALONE = f"Files are complete with their micro-batch, unless '{COMPACTION}' is 'true'."
_IN_TURN = "Files are compacted by the sink itself, one after the other."
_OFTEN = "It is looked at after each micro-batch, and between them."

_T = TypeVar("_T")


def rolling_options(options: Mapping[str, str]) -> tuple[TableOption, ...]:
    """They have no effect where files stay as micro-batches write them."""
    inert = options.get(COMPACTION, "").strip().lower() != "true"

    def option(key: str, kind: Kind, default: str, description: str) -> TableOption:
        return TableOption(key, kind, default, _ALONE if inert else description, inert=inert)

    return (
        TableOption(COMPACTION, "bool", "false", "Files are hidden until they are compacted into larger ones."),
        option(TARGET, "size", "", f"Size from which a compacted file is complete; that of {_SIZE} when unset."),
        option(_SIZE, "size", "128 mb", f"Size from which a compacted file is complete, without {TARGET}."),
        option(_ROLLOVER, "duration", "30 min", "How long rows are hidden at most."),
        option(_INACTIVITY, "duration", "30 min", "How long rows are hidden when no more come into their partition."),
        TableOption(f"{ROLLING}check-interval", "duration", "1 min", _OFTEN, inert=True),
        TableOption("compaction.parallelism", "int", "", _IN_TURN, inert=True),
    )


@dataclass(frozen=True, slots=True)
class Rolling:
    """What makes the files of a partition one."""

    size: int
    """Bytes."""
    rollover: int
    """Milliseconds since the first of them was written."""
    inactivity: int
    """Milliseconds since the last of them was written."""

    @classmethod
    def of(cls, options: TableOptions) -> Self | None:
        """None where files are not compacted."""
        if not options.flag(COMPACTION):
            return None
        size = parse_size(options.text(TARGET) or options.text(_SIZE), TARGET)
        return cls(size, round(options.seconds(_ROLLOVER) * 1000), round(options.seconds(_INACTIVITY) * 1000))

    def due_at(self, partitions: Iterable[HeldPartition]) -> int | None:
        """When files of one of these are to be shown by the clock, epoch ms; None without any."""
        return min((self._due_at(each) for each in partitions), default=None)

    def groups(
        self, partitions: Iterable[HeldPartition], now: int, is_due: Callable[[str], bool] = lambda folder: False
    ) -> list[list[HeldFile]]:
        """Those that are to be shown, each list as one file. `is_due`: whether all of a folder's are."""
        found = list[list[HeldFile]]()
        for partition in partitions:
            everything = is_due(partition.files[0].folder) or self._due_at(partition) <= now
            if everything or partition.size >= self.size:
                *whole, rest = self.cut(partition.files, lambda each: each.size)
                found += [*whole, rest] if everything and rest else whole
        return found

    def cut(self, files: Iterable[_T], size_of: Callable[[_T], int]) -> list[list[_T]]:
        """Neighbors of the size or more together, and what remains, which may be empty."""
        found, size = [list[_T]()], 0
        for each in files:
            if size_of(each) >= self.size and found[-1]:
                # A large one is shown as it is.
                found.append([])
                size = 0
            found[-1].append(each)
            size += size_of(each)
            if size >= self.size:
                found.append([])
                size = 0
        return found

    def _due_at(self, partition: HeldPartition) -> int:
        return min(partition.first + self.rollover, partition.last + self.inactivity)
