"""Version 1 (1.0), which the class of version 2 serves."""

from execnodes.stream.changelog_normalize.v2 import ChangelogNormalize

__all__ = ["ChangelogNormalize"]
