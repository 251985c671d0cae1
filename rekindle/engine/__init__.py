"""The engine of micro-batches.

`log`: what is committed, and so what there is; `store`: keyed state as columnar segments.
"""
