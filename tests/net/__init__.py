"""The net: what each release made of inputs, recorded by its own wheel, and held against the code of today.

A record is an input and what the wheel of the release that first had a version gave for it; it is data and never
written again. ``python -m tests.net.record`` adds what is not recorded yet:

- `functions.jsonl`: calls as plans hold them, and their values over the rows of `edge_values`;
- `operators.jsonl`: changelogs, the changes that an operator made of them, and its state after each batch;
- `queries.jsonl`: plans of queries and their rows, for what needs Spark: stateless nodes, and batch mode.
"""
