"""What statements take and give.

Plans: `compiled_plan`, and one not yet read, `plan_reference`. Results: `table_result`, whose rows a
`closeable_iterator` gives, shown as a `tableau`, with their `json_values`
and their `resolved_schema`.
"""
