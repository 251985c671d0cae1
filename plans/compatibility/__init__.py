"""Whether the state of one plan may go on in another.

`plan_meanings` says what each state of a plan holds; `compare` matches the states of two plans, `judge` one with
another, on their forms in `canonical`; `accumulators` of functions of the user by their snapshots. What means the same
but for types that hold more is `carried` on: by what `term_types` are, and what becomes of `widened_calls`, of
`widened_states` and of a sink's `constraints`; `narrow_reads` may lack something. What comes of it all are `fates` and
a verdict; `counterparts`, `outputs` and `physical_tables` tell what is lost, `find_intended_changes` what an engine
gives otherwise. `restore` and `user_functions` ask the session for the
tables and functions that a plan names.
"""
