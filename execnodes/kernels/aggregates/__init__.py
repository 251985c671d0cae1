"""Accumulators of aggregate functions in Polars.

`accumulator` is what one is, `make` chooses it for a call: `counting`, `sums`, `variance`, `extremes`, `arrival`, and
those that are made from values: `counted`, `sequenced`, `collected`, `percentiles`, `single`, with nested values as
`json_text`. `aggregation` joins the calls of a node over columns named in `frame`, and gives `result_changes`;
`whole` has all rows of its groups at once, `sliding` a frame for each row. `column_meanings` says what the columns of
the state mean. Functions of the user: `user`, `user_distinct`, `user_frames`, `user_groups`; `mixed` has them beside
the system's.
"""
