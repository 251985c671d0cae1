"""What runs stateful operators in Spark, in the order of a row's way.

`packing` packs rows for a keyed stage by `hashes` of their keys; the `processor` is what Spark is given, the `host` has
all operators of a stage; `inlet` and `slot_frames` bring rows into kernels and back, `order` puts changes in order.
"""
