"""stream-exec-changelog-normalize: 1 (since 1.0), 2 (since 1.1)."""

from execnodes.stream.changelog_normalize.v2 import ChangelogNormalize

__all__ = ["ChangelogNormalize"]
