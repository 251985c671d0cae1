"""Functions that users write in Python.

Kinds of a `user_defined_function`: `scalar`, `table`, `aggregate` of an `aggregate_function` or a `pandas_aggregate`,
`table_aggregate`, with `aliases`. What they say of themselves: `parameters`, type `hints`; a `column_operand` is no
value, `rows` are, and `data_views` in accumulators. In plans: `calls`, `loading` by name, `mixed` aggregates. On their
way: `shipping`, `running`, `arrow_values`, `waiting` for `async def`, `partial` accumulators, `groups` of batch, their
`equal_values`.
"""
