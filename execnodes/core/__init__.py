"""What every node is made of.

The graph: `node`, its `metadata`, the `registry` that finds node versions, `graph`, `changelog`, `outputs`, `meaning`,
`inner_names` of columns; `places` in the SQL; `version` of the engine. What properties hold: `types` (what holds more:
`widening`; `time_precision`; Flink's `type_texts`), `constants`, `expressions` (which of them kernels compute:
`predicates`), `indexes` of columns, `tables`, and the specs that several nodes have: `source_node`, `sink_node`,
`join_spec`, `interval_join_spec`, `sort_spec`, `rank_spec`, `over_spec`, `match_spec`, `windowing`, `async_options`.
What all modules use: `errors`, `words`, `local_paths`, `options` with `option_maps` and `flink_options`, `zones`,
`explain_details`, `secrets`, `consent` to imports, `connectors` (the words of their abilities), `recursion`, `garbage`.
"""
