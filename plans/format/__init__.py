"""The JSON document of a plan, in the order of the walk.

Writing: `codec`, as `text` over the model in `document`; `literal_secrets` never reach it. Reading: `load`, with
`messages` for people, `texts`, `functions`, `checks` of every node, and then `agreement` of the plan with itself, by
its `references`. `walk` goes through the tree of a node; `calls`, `node_tables`, `rewrite` find and replace parts of
it; `places` and `job_options` stand beside them. `lint` and `explain` say what is in a plan, `find_lost_conditions`
what is missing in it; `schema` holds its JSON Schema for each release.
"""
