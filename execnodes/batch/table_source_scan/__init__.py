"""batch-exec-table-source-scan: 1 (since 1.0)."""

from execnodes.batch.table_source_scan.v1 import BatchTableSourceScan

__all__ = ["BatchTableSourceScan"]
