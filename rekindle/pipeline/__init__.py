"""A graph as Spark runs it, in the order of the walk.

`record` asks every node what it wants, `stages` says which operators run together (in `subtasks`, behind `guards`), and
`stage_frames` makes one streaming DataFrame of it; `batch` makes those of a batch plan. `connector_requests` are what connectors are
asked, `functions` those of the user, `streams` the names of sources, `idleness` what becomes of silent ones; `state_layout`
and `page_layouts` say how state lies. `failures` tells what made a query fail.
"""
