"""SQL text to ExecGraph, in the order of the walk: parse, resolve, build, optimize, lower."""
