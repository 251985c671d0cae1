"""TPC-H in Flink's dialect, from compiled plans."""
