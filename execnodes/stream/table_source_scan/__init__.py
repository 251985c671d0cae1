"""stream-exec-table-source-scan: 1 (since 1.0)."""

from execnodes.stream.table_source_scan.v1 import ScanTableSource, TableSourceScan

__all__ = ["ScanTableSource", "TableSourceScan"]
