"""Jobs that run: `assemble` from a plan and a folder, the life of a `job`, its kinds `stream_job` and `batch_job`.

`attendant` speaks with other processes and tells `progress`, `restarts` decide after a failure, `gate` where a job may
stop; `fan_out` feeds the sinks; `bootstrap` makes state for new operators.

`micro_batch_job` is to take the place of `stream_job`: it runs on the engine of micro-batches.
"""
