"""Version 1 (1.0), which the class of version 2 serves."""

from execnodes.stream.deduplicate.v2 import Deduplicate

__all__ = ["Deduplicate"]
