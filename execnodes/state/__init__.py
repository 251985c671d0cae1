"""State of operators: pages, key groups, kernel types, and the one stateful processor."""
