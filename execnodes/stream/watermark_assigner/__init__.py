"""stream-exec-watermark-assigner: 1 (since 1.0), 2 (since 1.1)."""

from execnodes.stream.watermark_assigner.v2 import WatermarkAssigner

__all__ = ["WatermarkAssigner"]
