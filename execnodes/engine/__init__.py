"""What runs operators in Spark's Python workers.

`bodies` are an operator's call and a pre-aggregation's; `slot_frames` bring rows into kernels and back, `order` puts
changes in order; `hashes` are those of keys.
"""
