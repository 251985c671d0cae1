"""Whether the state of one plan may go on in another.

`plan_meanings` says what each state of a plan holds; `compare` matches the states of two plans, `judge` one with
another, on their forms in `canonical`; `accumulators` of functions of the user by their snapshots. What comes of it
are `fates` and a verdict; `counterparts` and `outputs` tell what is lost. `restore` and `user_functions` ask the
session for the tables and functions that a plan names.
"""
