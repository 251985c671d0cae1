"""stream-exec-exchange: 1 (since 1.0)."""

from execnodes.stream.exchange.v1 import Exchange

__all__ = ["Exchange"]
