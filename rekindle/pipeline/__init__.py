"""A graph as Spark runs it, in the order of the walk.

`resolved` tables; `record` asks every node what it wants, with `functions` of the user behind `guards`; `ways` are
those of rows from their origins to their consumers, `arms` and `origins` what is to be known of them; `hosts` are the
operators that share a call; `columns` makes the frames between them, and `batch` those of a batch plan.
`connector_requests` are what connectors are asked, by `lookups` for each row, `streams` the names of sources in a
checkpoint; `state_layout` and `page_layouts` say how state lies. `failures` tells what made a query fail.
"""
