"""What nodes of several folders share.

All `batch` nodes; `calculation` of calcs of all kinds; `joins` in time; `lookups` of lookup joins; `unnesting` in
streams and in batch.
"""
