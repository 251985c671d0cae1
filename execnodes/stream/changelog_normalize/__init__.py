"""stream-exec-changelog-normalize: 2 (since 1.1); 1 (1.0 to 1.1) is gone."""

from execnodes.stream.changelog_normalize.v2 import ChangelogNormalize

__all__ = ["ChangelogNormalize"]
