"""A graph as Spark runs it, in the order of the walk.

`resolved` tables; `record` asks every node what it wants, with `functions` of the user behind `guards`, and `arms` and
`origins` of rows; `stages` says which operators run together, in `subtasks`; `stage_frames` makes one streaming
DataFrame of it, by `stage_columns`, and `batch` those of a batch plan. `connector_requests` are what connectors are
asked, `streams` the names of sources, `idleness` what becomes of silent ones, `clock` and `control_rows` what moves
time without rows; `state_layout` and `page_layouts` say how state lies. `metrics` count, `failures` tells what made a
query fail.
"""
