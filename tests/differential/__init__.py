"""Random queries over random rows, which DuckDB answers too."""
