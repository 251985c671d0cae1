"""Functions that users write in Python.

Kinds: `scalar`, `table`, `aggregate` of an `aggregate_function` or a `pandas_aggregate`, with `aliases`. What they say
of themselves: `parameters`, type `hints`; a `column_operand` is no value, `rows` are. In plans: `calls`, `loading` by
name, `mixed` aggregates. On their way: `shipping`, `arrow_values`, `waiting` for `async def`, `partial` accumulators,
`groups` of batch and their `equal_values`.
"""
