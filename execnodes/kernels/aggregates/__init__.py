"""Accumulators of aggregate functions in Polars, one module a family; `aggregation` joins the calls of a node."""
