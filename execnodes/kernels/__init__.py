"""What kernels share; the kernel of a node stands beside the node.

`aggregates` over Polars frames, `polars_predicates` for conditions, `failing` for rows that end the job.
"""
