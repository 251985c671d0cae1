"""A plan made from an old one.

`upgrade` puts every node at its newest version. `evolve` gives the nodes of a changed query the ids of those that mean
the same, which `match` finds, beside `first_rows`; `bootstrap` says which state can be made anew. `merge` and `diff`
put two plans side by side.
"""
