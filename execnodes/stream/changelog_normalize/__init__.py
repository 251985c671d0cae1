"""stream-exec-changelog-normalize: 1 (since 1.0)."""

from execnodes.stream.changelog_normalize.v1 import ChangelogNormalize

__all__ = ["ChangelogNormalize"]
