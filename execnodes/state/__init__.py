"""State of operators.

What an `operator` declares; `kernel_types` of values, and `python_values` of them; `pages` that keep them,
`serializers` of accumulators, `sessions` of rows, `widened_texts` of nested values; `state_meanings` say what is in
them.
"""
