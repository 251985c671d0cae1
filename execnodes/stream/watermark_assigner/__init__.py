"""stream-exec-watermark-assigner: 1 (since 1.0)."""

from execnodes.stream.watermark_assigner.v1 import WatermarkAssigner

__all__ = ["WatermarkAssigner"]
