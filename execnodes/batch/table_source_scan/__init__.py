"""batch-exec-table-source-scan: 1 (since 1.0)."""

from execnodes.batch.table_source_scan.v1 import BatchTableSourceScan, ScanTableSource

__all__ = ["BatchTableSourceScan", "ScanTableSource"]
