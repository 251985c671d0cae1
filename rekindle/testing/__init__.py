"""Running program folders (SQL, input, expected rows) and judging what came out: `rekindle test`."""
