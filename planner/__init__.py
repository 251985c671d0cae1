"""SQL text to ExecGraph, in the order of the walk.

`parse` and `sql` (the dialect) give `statements`, `table_statements` and `syntax`; `catalog` holds what they name;
`limits` says how large they may be; `bind` makes relational operators (`algebra`) of them, `ddl` changes the catalog by
them; `optimize` applies `rules`; `lower` makes ExecNodes.
"""
