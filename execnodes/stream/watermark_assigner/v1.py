"""Version 1 (1.0), which the class of version 2 serves."""

from execnodes.stream.watermark_assigner.v2 import WatermarkAssigner

__all__ = ["WatermarkAssigner"]
