"""What kernels share; the kernel of a node stands beside the node.

`aggregates` over Polars frames, `polars_predicates` for conditions and `row_predicates` for those that are asked row by
row, `failing` for rows that end the job; `unsigned_zeros` for values as they are compared, `local_times` for the times
that clocks show.
"""
