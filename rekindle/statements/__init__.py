"""What statements do, in a `session`: `execute`, a function a kind.

Plans: `compile` (a query without INSERT: `query_sink`; of a script: `script_body`), which lets `check_runnable`
refuse what no job can run, `evolution`, `plan_upgrade`, `plan_query`, with the session's `catalog_tables`. Looking:
`show`, `describe_function`, `jobs`. Errors: `option_places`.
"""
