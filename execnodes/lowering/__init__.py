"""How nodes say what runs: `stream` is what those of streams are offered.

The others write Spark SQL: `spark_sql` (types and constants), `slots` (columns at an exchange), `constraints` of sinks,
`raising` (a row that fails the job), `event_times` (a row without one), `user_calls`, `words` that stand for something
in texts.
"""
