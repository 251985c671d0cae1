"""stream-exec-table-source-scan: 1 (since 1.0), 2 (since 1.1)."""

from execnodes.stream.table_source_scan.v2 import FilterPushDown, ScanTableSource, TableSourceScan

__all__ = ["FilterPushDown", "ScanTableSource", "TableSourceScan"]
