"""Serializers of user-defined accumulators, and the snapshots by which they judge what older ones have written.

`serializer` is what one is and `make` chooses it: `dataclasses` and `rows` (rules: `fields`), `values`, `avro` (rules:
`avro_schema`), `pickled`. `snapshot` stays with the state; `migrate` turns state of one into that of another, by
`column_migration` where snapshots tell how, else by `row_conversion`.
"""
