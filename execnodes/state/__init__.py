"""State of operators: pages, lanes, kernel types, and the one stateful processor."""
