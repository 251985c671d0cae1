"""What kernels share: aggregates and predicates over Polars frames. The kernel of a node stands beside the node."""
