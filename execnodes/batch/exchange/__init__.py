"""batch-exec-exchange: 1 (since 1.0)."""

from execnodes.batch.exchange.v1 import BatchExchange

__all__ = ["BatchExchange"]
